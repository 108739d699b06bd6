// Launch lines of Megatron-LM as experiments.
#include <algorithm>
#include <catch2/catch.hpp>

#include "launch_job.hpp"

namespace tessera::experiment {

using namespace test;

TEST_CASE("a script of Megatron-LM becomes an experiment that builds") {
  const auto made = imported({{"job.sh", small_job}}, on("h100-cluster"));
  CHECK(made.errors == Lines{});
  REQUIRE(made.built != nullptr);
  const std::vector<std::pair<std::string, std::string>> expected{
      {"machine.topology.nodes", "2"},
      {"model.layers", "24"},
      {"model.kv_heads", "4"},
      {"model.gated_mlp", "true"},
      {"model.norm", "\"rmsnorm\""},
      {"model.position", "\"rotary\""},
      {"model.bias", "false"},
      {"model.qkv_bias", "false"},
      {"model.tied_embeddings", "false"},
      {"model.dropout", "false"},
      {"model.vocabulary", "32000"},
      {"workload.sequence", "4096"},
      {"workload.global_batch", "64"},
      {"workload.datatype", "\"bf16\""},
      {"strategy.tensor", "2"},
      {"strategy.pipeline", "2"},
      {"strategy.interleave", "3"},
      {"strategy.data", "4"},  // 24 / (2 x 4); 16 / 4
      {"strategy.micro_batch", "1"},
      {"strategy.sequence_parallel", "true"},
      {"strategy.recomputation", "\"selective\""},
      {"strategy.distributed_optimizer", "true"},
      {"strategy.overlap_gradient_reduction", "true"},
      {"strategy.overlap_parameter_gathering", "false"},  // the recipe has it, but no option says so
      {"strategy.gradient_precision", "\"fp32\""}};       // BF16 without --grad-reduce-in-bf16
  for (const auto& [key, value] : expected) {
    INFO(key);
    CHECK(made.value(key) == value);
  }
  // What says nothing is named, with what it was called there beside what does.
  CHECK(made.text.find("# Of no consequence here: --data-path, --lr.") != std::string::npos);
  CHECK(made.text.find("tensor = 2                              # --tensor-model-parallel-size") != std::string::npos);
}

TEST_CASE("variables, nodes and keys of the request win over the script") {
  auto request = on("h100-cluster");
  request.variables = {{"NODES", "4", ""}};
  request.settings = {parse_setting("workload.global_batch=128"), parse_setting("title=mine")};
  const auto made = imported({{"job.sh", small_job}}, request);
  REQUIRE(made.built != nullptr);
  CHECK(made.value("machine.topology.nodes") == "4");
  CHECK(made.value("strategy.data") == "8");
  CHECK(made.value("workload.global_batch") == "128");
  CHECK(made.value("title") == "\"mine\"");
  request.nodes = 8;
  CHECK(imported({{"job.sh", small_job}}, request).value("strategy.data") == "16");
}

TEST_CASE("instances of the distributed optimizer are groups of replicas over which it is cut") {
  auto request = on("h100-cluster");
  request.nodes = 8;
  const auto shards = [&](const std::string& groups) {
    return imported({{"job.sh", with_options("--num-distributed-optimizer-instances " + groups)}}, request);
  };
  CHECK(shards("2").value("strategy.shard_ranks") == "8");  // of 16 replicas
  CHECK(shards("1").text.find("shard_ranks") == std::string::npos);
  CHECK(shards("2").text.find("group_reduction") == std::string::npos);
  CHECK(shards("2 --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params")
            .value("strategy.group_reduction") == "\"last-micro-batch\"");
  for (const std::string groups : {"3", "16"}) {
    const Lines errors = shards(groups).errors;
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].find("--num-distributed-optimizer-instances " + groups +
                         ": 16 replicas, with their context ranks, are not so many groups of several") !=
          std::string::npos);
  }
}

TEST_CASE("options that change the computation and cannot be said are refused by name, or left out on request") {
  const Lines two = errors_with("--moe-latent-size 512 --fp32-residual-connection");
  REQUIRE(two.size() == 2);
  CHECK(two[0] ==
        "job.sh:17:49: --moe-latent-size: not modelled: experts over a compressed hidden state; --without "
        "--moe-latent-size leaves it out");
  CHECK(two[1].find("--fp32-residual-connection: not modelled: residuals in FP32") != std::string::npos);
  CHECK(errors_with("--normalization LayerNormX").size() == 1);
  CHECK(errors_with("--recompute-granularity full --recompute-num-layers 3").size() == 1);
  CHECK(errors_with("--recompute-granularity full --recompute-method some --recompute-num-layers 3").size() == 1);
  auto request = on("h100-cluster");
  request.without = {"--fp32-residual-connection"};
  const auto made = imported({{"job.sh", with_options("--fp32-residual-connection")}}, request);
  CHECK(made.errors == Lines{});
  CHECK(made.text.find("# Left out on request, although it changes the computation: --fp32-residual-connection.") !=
        std::string::npos);
}

TEST_CASE("what other tools' words call not modelled is refused, and what they translate is taken over") {
  CHECK(errors_with("--cpu-offloading").front().find("--cpu-offloading: not modelled: ") != std::string::npos);
  CHECK(errors_with("--cpu-offloading false") == Lines{});
  const auto made = imported({{"job.sh", with_options("--context-parallel-size 2")}}, on("h100-cluster"));
  CHECK(made.value("strategy.context_parallel") == "2");
  const auto exchanged =
      imported({{"job.sh", with_options("--context-parallel-size 2 --cp-comm-type a2a")}}, on("h100-cluster"));
  CHECK(exchanged.value("strategy.context_exchange") == "\"all-to-all\"");
  CHECK(errors_with("--cp-comm-type p2p") == Lines{});
  CHECK(errors_with("--cp-comm-type a2a+p2p")
            .front()
            .find("\"a2a+p2p\" is not modelled, what is: p2p, a2a, all_gather") != std::string::npos);
  CHECK(errors_with("--context-parallel-size 1") == Lines{});
}

TEST_CASE("unknown options warn and are listed") {
  const auto made = imported({{"job.sh", with_options("--foo-bar 3 --overlap-p2p-communication")}}, on("h100-cluster"));
  CHECK(made.errors == Lines{});
  REQUIRE(made.warnings.size() >= 2);
  CHECK(made.warnings[0] == "job.sh:17:49: --foo-bar: not known, left out");
  CHECK(made.text.find("# Not known to tessera import, left out: --foo-bar.") != std::string::npos);
  CHECK(made.text.find("# Left out, it changes when things are done and not what: --overlap-p2p-communication.") !=
        std::string::npos);
}

TEST_CASE("what is missing or no number is one line each") {
  const auto errors_of = [](const std::string& script) {
    return imported({{"s.sh", script}}, on("h100-cluster")).errors;
  };
  CHECK(errors_of("run --num-layers x --hidden-size 64 --num-attention-heads $H --seq-length 8 --vocab-size 9") ==
        Lines{"s.sh:1:5: --num-layers: expected a whole number, found \"x\"",
              "s.sh:1:37: --num-attention-heads: expected a whole number, found $H, which is not set (--var H=N)"});
  CHECK(errors_of("run --num-layers 2 --seq-length 8") ==
        Lines{"s.sh:1:5: --hidden-size is missing: give it here, or --set model.hidden=N",
              "s.sh:1:5: --num-attention-heads is missing: give it here, or --set model.heads=N",
              "s.sh:1:5: --vocab-size is missing: give it here, or --set model.vocabulary=N"});
  CHECK(errors_of("echo --num-layers\nls -l\n") ==
        Lines{"s.sh:1:6: --num-layers: expected a whole number, found nothing",
              "s.sh:1:6: --hidden-size is missing: give it here, or --set model.hidden=N",
              "s.sh:1:6: --num-attention-heads is missing: give it here, or --set model.heads=N",
              "s.sh:1:6: --vocab-size is missing: give it here, or --set model.vocabulary=N"});
  std::string wide = small_job;
  wide.replace(wide.find("NODES:-2"), 8, "NODES:-1");
  wide.replace(wide.find("parallel-size 2 --pipe"), 15, "parallel-size 8");
  CHECK(
      errors_of(wide).front().find(
          "8 devices are no multiple of the 16 of a replica (tensor x pipeline); --nodes 2 has room for one replica") !=
      std::string::npos);
}

TEST_CASE("the machine is the one that is named, or the one whose device the files name") {
  const auto request = on("");
  CHECK(imported({{"job.sh", small_job}}, request)
            .errors.front()
            .find("job.sh:1:1: which machine? the files name none: --machine NAME, known: a100-40g-cluster") == 0);
  CHECK(imported({{"job_h100.sh", small_job}}, request).value("machine.name") == "\"h100-cluster\"");
  CHECK(imported({{"job.sh", small_job + "# on V100\n"}}, request).value("machine.name") == "\"v100-cluster\"");
  CHECK(imported({{"job.sh", small_job}}, on("h200-clutser")).errors.front().find("unknown machine \"h200-clutser\"") !=
        std::string::npos);
}

TEST_CASE("a batch that replicas do not share evenly, and programs of other models, are refused") {
  const std::string batch =
      small_job.substr(0, small_job.find("--global-batch-size 64")) + "--global-batch-size 6 --bf16\n";
  CHECK(imported({{"job.sh", batch}}, on("h100-cluster"))
            .errors.back()
            .find("--global-batch-size 6 is no multiple of micro-batches of 1 for 4 replicas") != std::string::npos);
  std::string bert = small_job;
  bert.replace(bert.find("pretrain_gpt.py"), 15, "pretrain_bert.py");
  CHECK(imported({{"job.sh", bert}}, on("h100-cluster"))
            .errors.front()
            .find("pretrain_bert.py: not modelled: a model that is no decoder") != std::string::npos);
  auto request = on("h100-cluster");
  request.without = {"pretrain_bert.py"};
  CHECK(imported({{"job.sh", bert}}, request).errors == Lines{});
}

TEST_CASE("what is refused of the experiment in the end warns") {
  // 5 micro-batches a replica, and interleaving needs a multiple of the two stages.
  std::string odd = small_job;
  odd.replace(odd.find("size 64"), 7, "size 20");
  const auto made = imported({{"job.sh", odd}}, on("h100-cluster"));
  REQUIRE(!made.warnings.empty());
  CHECK(made.warnings.front().find("as it stands it is refused: made.toml:") != std::string::npos);
  CHECK(made.text.find("interleave = 3") != std::string::npos);
}

}  // namespace tessera::experiment
