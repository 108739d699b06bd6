// What options of Megatron-LM say of layers: which run again, attention, experts, windows.
#include <catch2/catch.hpp>

#include "experiment/import/launch_layers.hpp"
#include "launch_job.hpp"

namespace tessera::experiment {

using namespace test;

TEST_CASE("the first n layers of a chunk that run again, or groups of n, are taken over") {
  const auto made = [](const std::string& options) {
    auto one = imported({{"job.sh", with_options("--recompute-granularity full --recompute-method " + options)}},
                        on("h100-cluster"));
    CHECK(one.errors == Lines{});
    return one;
  };
  const auto block = made("block --recompute-num-layers 3"), uniform = made("uniform --recompute-num-layers 2");
  CHECK(block.value("strategy.recomputed_layers") == "3");
  CHECK(block.value("strategy.recomputation_method") == "\"block\"");
  CHECK(uniform.value("strategy.recomputed_layers") == "2");
  CHECK(uniform.value("strategy.recomputation_method") == "\"uniform\"");
  CHECK(made("uniform --recompute-num-layers 1").text.find("recomputed_layers") == std::string::npos);
}

TEST_CASE("modules of a layer that run again become its sections") {
  const auto made = [](const std::string& options) {
    return imported({{"job.sh", with_options("--recompute-granularity selective --recompute-modules " + options)}},
                    on("h100-cluster"));
  };
  CHECK(made("core_attn").value("strategy.recomputation") == "\"selective\"");
  const auto several = made("mlp layernorm");
  CHECK(several.errors == Lines{});
  CHECK(several.value("strategy.recomputed_sections") ==
        R"(["fc1", "activation", "fc2", "attention_norm", "mlp_norm"])");
  CHECK(made("core_attn,layernorm").text.find("# Megatron core keeps what core_attn makes") != std::string::npos);
  CHECK(made("moe_act").errors.front().find("--recompute-modules moe_act: not modelled: ") != std::string::npos);
  CHECK(made("nonesuch").errors.front().find("--recompute-modules nonesuch: not modelled: no module") !=
        std::string::npos);
  // Layers with experts and without run the sections of an MLP alike, so neither can be meant alone.
  const std::string experts = " --num-experts 8 --moe-router-topk 2";
  CHECK(made("moe" + experts).errors == Lines{});
  CHECK(made("mlp" + experts).errors.front().find("sections are those of all layers") != std::string::npos);
  CHECK(made("moe" + experts + " --moe-layer-freq 2").errors.front().find("sections are those of all layers") !=
        std::string::npos);
  CHECK(made("moe").errors.front().find("the model has no experts") != std::string::npos);
}

TEST_CASE("norms of queries and keys, and latent attention") {
  CHECK(imported({{"job.sh", with_options("--qk-layernorm")}}, on("h100-cluster")).value("model.query_key_norm") ==
        "\"shared\"");
  const auto made = imported({{"job.sh", with_options("--multi-latent-attention --qk-layernorm --q-lora-rank 768 "
                                                      "--kv-lora-rank 512 --qk-head-dim 128 --v-head-dim 128")}},
                             on("h100-cluster"));
  CHECK(made.errors == Lines{});
  REQUIRE(made.built != nullptr);
  CHECK(made.value("model.head_dim") ==
        "192");  // 128, and 64 that positions turn, when --qk-pos-emb-head-dim is absent
  const workload::Model& model = *made.built->model;
  // Queries 2048 x 768, their norm, 768 x 16 x 192; keys and values 2048 x (512 + 64), the norm of 512, 512 x 16 x
  // (128 + 128); the projection 16 x 128 x 2048. Beside it an MLP of 8,192 and two norms.
  const std::int64_t h = 2048, latent = h * 768 + 768 + 768 * 16 * 192 + h * 576 + 512 + 512 * 16 * 256 + 16 * 128 * h;
  CHECK(workload::parameter_count(model) == 24 * (latent + 3 * h * 8192 + 2 * h) + 2 * 32000 * h + h);
}

TEST_CASE("what options together make is left out on request as well") {
  auto request = on("h100-cluster");
  request.without = {"recompute-num-layers"};
  const auto made =
      imported({{"job.sh", with_options("--recompute-granularity full --recompute-num-layers 3")}}, request);
  CHECK(made.errors == Lines{});
  CHECK(made.value("strategy.recomputation") == "\"full\"");
}

TEST_CASE("experts of Megatron-LM") {
  const auto made =
      imported({{"job.sh", with_options("--num-experts 8 --moe-router-topk 2 --expert-model-parallel-size 4 "
                                        "--moe-ffn-hidden-size 1024 --moe-grouped-gemm")}},
               on("h100-cluster"));
  CHECK(made.errors == Lines{});
  CHECK(made.value("model.experts") == "8");
  CHECK(made.value("model.experts_per_token") == "2");
  CHECK(made.value("model.ffn_hidden") == "1024");
  CHECK(made.value("strategy.expert_parallel") == "4");
}

TEST_CASE("which layers have experts") {
  const auto sequence = [](const std::string& value) {
    config::Diagnostics diagnostics;
    const auto kinds =
        importing::expert_sequence(importing::make_flag("--moe-layer-freq", value, {"f", 1, 1}), diagnostics);
    CHECK((diagnostics.ok() || kinds.empty()));
    return diagnostics.ok() ? kinds : Lines{"refused"};
  };
  CHECK(sequence("1") == Lines{});
  CHECK(sequence("2") == Lines{"moe", "dense"});  // layers 0, 2, 4, ... have experts
  CHECK(sequence("3") == Lines{"moe", "dense * 2"});
  CHECK(sequence("([0]*3+[1]*58)") == Lines{"dense * 3", "moe * 58"});
  CHECK(sequence("[0, 1]*2 + [1]") == Lines{"dense", "moe", "dense", "moe", "moe"});
  for (const char* wrong : {"", "x", "[2]", "[0]*", "[0]*0", "[0", "[0]+", "[0]*3x"})
    CHECK(sequence(wrong) == Lines{"refused"});
}

TEST_CASE("dense layers before those with experts, of another width, and shared experts") {
  const auto made = imported(
      {{"job.sh",
        with_options("--num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 1024 --moe-layer-freq '([0]*2+[1]*22)' "
                     "--moe-shared-expert-intermediate-size 2048 --moe-router-num-groups 4 --moe-router-group-topk 2 "
                     "--moe-shared-expert-overlap --moe-enable-deepep --expert-model-parallel-size 4 "
                     "--expert-tensor-parallel-size 1")}},
      on("h100-cluster"));
  CHECK(made.errors == Lines{});
  REQUIRE(made.built != nullptr);
  CHECK(made.value("strategy.expert_dispatch") == "\"once-a-node\"");
  CHECK(made.value("strategy.overlap_shared_experts") == "true");
  const workload::Model& model = *made.built->model;
  CHECK(model.layer_kinds.at(1).expert_groups == 4);  // and the dense ones have none
  // Of an MLP 3 x 2048 x its width: two layers of 8,192, and 22 of 8 + 2 experts of 1,024 with a router of 2048 x 8.
  const std::int64_t h = 2048,
                     attention = 2 * h * h + 2 * h * 512 + 2 * h;  // four heads of 128 for keys and values; two norms
  CHECK(workload::parameter_count(model) ==
        24 * attention + 2 * 3 * h * 8192 + 22 * (3 * h * 1024 * 10 + h * 8) + 2 * 32000 * h + h);
}

TEST_CASE("all-to-alls of experts beside computing of another micro-batch") {
  const auto made = imported({{"job.sh", with_options("--num-experts 8 --overlap-moe-expert-parallel-comm "
                                                      "--delay-wgrad-compute --expert-model-parallel-size 4")}},
                             on("h100-cluster"));
  CHECK(made.errors == Lines{});
  CHECK(made.value("strategy.schedule") == "\"combined-1f1b\"");
  CHECK(made.value("strategy.delay_weight_gradients") == "true");
  // Each without what it is about.
  const auto idle = imported({{"job.sh", with_options("--num-experts 8 --moe-shared-expert-overlap "
                                                      "--delay-wgrad-compute --expert-model-parallel-size 4")}},
                             on("h100-cluster"));
  CHECK(idle.errors == Lines{});
  const auto says = [&](const std::string& what) {
    return std::ranges::any_of(idle.warnings, [&](const std::string& line) { return line.ends_with(what); });
  };
  CHECK(says("--moe-shared-expert-overlap has no effect without shared experts"));
  CHECK(says("--delay-wgrad-compute has no effect without --overlap-moe-expert-parallel-comm"));
}

TEST_CASE("windows") {
  CHECK(
      imported({{"job.sh", with_options("--window-size 1023,0")}}, on("h100-cluster")).value("model.sliding_window") ==
      "1024");
  CHECK(errors_with("--window-size x").front().find("--window-size: expected tokens before and behind") !=
        std::string::npos);
  CHECK(errors_with("--window-size 127,0 --window-attn-skip-freq 2").front().find("windows in some layers") !=
        std::string::npos);
}

}  // namespace tessera::experiment
