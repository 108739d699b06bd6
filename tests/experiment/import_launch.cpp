// Launch lines of Megatron-LM and configurations of NeMo as experiments.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "experiment/import/flags.hpp"
#include "experiment/import/launch_layers.hpp"
#include "importing.hpp"
#include "tessera/base/foreign_words.hpp"

namespace tessera::experiment {
namespace {

using test::imported;
using test::on;
using Lines = std::vector<std::string>;

/// A job of 16 GPUs: tensor 2, pipeline 2, so 4 replicas.
const std::string small_job = R"(#!/bin/bash
NODES=${NODES:-2}
MODEL=(
  --num-layers 24
  --hidden-size 2048
  --num-attention-heads 16
  --group-query-attention --num-query-groups 4
  --ffn-hidden-size 8192 --swiglu
  --normalization RMSNorm --position-embedding-type rope
  --disable-bias-linear --untie-embeddings-and-output-weights
  --hidden-dropout 0.0 --attention-dropout 0.0
  --seq-length 4096 --max-position-embeddings 4096 --vocab-size 32000
)
torchrun --nproc_per_node 8 --nnodes $NODES pretrain_gpt.py ${MODEL[@]} \
  --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 4 \
  --sequence-parallel --micro-batch-size 1 --global-batch-size 64 --bf16 --use-distributed-optimizer \
  --overlap-grad-reduce --recompute-activations --lr 1e-4 --data-path $DATA
)";

/// The same with further options.
std::string with(const std::string& options) {
  std::string text = small_job;
  text.insert(text.rfind(" --lr"), " " + options);
  return text;
}

Lines errors_with(const std::string& options, ImportRequest request = on("h100-cluster")) {
  return imported({{"job.sh", with(options)}}, std::move(request)).errors;
}

}  // namespace

TEST_CASE("every row of options has a key that is there, and every choice is one") {
  std::set<std::string> keys;
  std::map<std::string, std::set<std::string>> choices_of;
  for (const auto& schema : schemas()) {
    for (const auto& parameter : schema->parameters()) {
      std::string path = schema->path() + "." + parameter.name;
      if (path.starts_with("strategy.megatron.")) path.erase(8, 9);
      keys.insert(path);
      for (const config::Value& value : schema->values_of(parameter.name)) {
        if (const std::string* text = value.string()) choices_of[path].insert(*text);
        if (const bool* truth = std::get_if<bool>(&value.content())) choices_of[path].insert(*truth ? "true" : "false");
      }
    }
  }
  for (const importing::FlagRow& row : importing::flag_rows()) {
    if (row.key.empty() || row.key == "-") continue;
    INFO(row.flags << " -> " << row.key);
    CHECK(keys.contains(std::string(row.key)));
    std::string_view words = row.words;
    while (!words.empty()) {
      const std::size_t end = std::min(words.find(' '), words.size());
      const std::string_view word = words.substr(0, end);
      const std::size_t equals = word.find('=');
      const bool is_fixed = row.conversion == importing::Conversion::fixed;
      if (is_fixed || equals != std::string_view::npos)
        CHECK(choices_of[std::string(row.key)].contains(std::string(is_fixed ? word : word.substr(equals + 1))));
      words.remove_prefix(std::min(end + 1, words.size()));
    }
  }
}

TEST_CASE("a row without a key has one of other tools' words, or is said not to be modelled") {
  using importing::Conversion;
  for (const importing::FlagRow& row : importing::flag_rows()) {
    const bool converts = row.conversion == Conversion::whole || row.conversion == Conversion::on ||
                          row.conversion == Conversion::off || row.conversion == Conversion::word ||
                          row.conversion == Conversion::fixed;
    if (!converts || !row.key.empty()) continue;
    std::string_view flags = row.flags;
    while (!flags.empty()) {
      const std::size_t end = std::min(flags.find(' '), flags.size());
      INFO(flags.substr(0, end));
      const config::ForeignWord* word = config::find_foreign_word(flags.substr(0, end));
      REQUIRE(word != nullptr);
      CHECK(config::names_here(*word).size() <= 1);
      flags.remove_prefix(std::min(end + 1, flags.size()));
    }
  }
}

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
    return imported({{"job.sh", with("--num-distributed-optimizer-instances " + groups)}}, request);
  };
  CHECK(shards("2").value("strategy.shard_ranks") == "8");  // of 16 replicas
  CHECK(shards("1").text.find("shard_ranks") == std::string::npos);
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
  const auto made = imported({{"job.sh", with("--fp32-residual-connection")}}, request);
  CHECK(made.errors == Lines{});
  CHECK(made.text.find("# Left out on request, although it changes the computation: --fp32-residual-connection.") !=
        std::string::npos);
}

TEST_CASE("what other tools' words call not modelled is refused, and what they translate is taken over") {
  // Holds whatever of it is modelled by now: such an option is one or the other.
  const std::vector<std::pair<std::string, std::string>> options{{"--context-parallel-size", "2"},
                                                                 {"--mtp-num-layers", "1"}};
  for (const auto& [option, value] : options) {
    INFO(option);
    const Lines errors = errors_with(option + " " + value);
    const config::ForeignWord* word = config::find_foreign_word(option);
    REQUIRE(word != nullptr);
    if (word->here.empty()) {
      REQUIRE(!errors.empty());
      CHECK(errors[0].find(option + ": not modelled: ") != std::string::npos);
    }
  }
  CHECK(errors_with("--context-parallel-size 1") == Lines{});
}

TEST_CASE("unknown options warn and are listed") {
  const auto made = imported({{"job.sh", with("--foo-bar 3 --overlap-p2p-communication")}}, on("h100-cluster"));
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

TEST_CASE("the first n layers of a chunk that run again, or groups of n, are taken over") {
  const auto made = [](const std::string& options) {
    auto one =
        imported({{"job.sh", with("--recompute-granularity full --recompute-method " + options)}}, on("h100-cluster"));
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
    return imported({{"job.sh", with("--recompute-granularity selective --recompute-modules " + options)}},
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
  CHECK(imported({{"job.sh", with("--qk-layernorm")}}, on("h100-cluster")).value("model.query_key_norm") ==
        "\"shared\"");
  const auto made = imported({{"job.sh", with("--multi-latent-attention --qk-layernorm --q-lora-rank 768 "
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
  const auto made = imported({{"job.sh", with("--recompute-granularity full --recompute-num-layers 3")}}, request);
  CHECK(made.errors == Lines{});
  CHECK(made.value("strategy.recomputation") == "\"full\"");
}

TEST_CASE("experts of Megatron-LM") {
  const auto made = imported({{"job.sh", with("--num-experts 8 --moe-router-topk 2 --expert-model-parallel-size 4 "
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
        with("--num-experts 8 --moe-router-topk 2 --moe-ffn-hidden-size 1024 --moe-layer-freq '([0]*2+[1]*22)' "
             "--moe-shared-expert-intermediate-size 2048 --moe-router-num-groups 4 --moe-router-group-topk 2 "
             "--moe-enable-deepep --expert-model-parallel-size 4 --expert-tensor-parallel-size 1")}},
      on("h100-cluster"));
  CHECK(made.errors == Lines{});
  REQUIRE(made.built != nullptr);
  CHECK(made.value("strategy.expert_dispatch") == "\"once-a-node\"");
  const workload::Model& model = *made.built->model;
  CHECK(model.layer_kinds.at(1).expert_groups == 4);  // and the dense ones have none
  // Of an MLP 3 x 2048 x its width: two layers of 8,192, and 22 of 8 + 2 experts of 1,024 with a router of 2048 x 8.
  const std::int64_t h = 2048,
                     attention = 2 * h * h + 2 * h * 512 + 2 * h;  // four heads of 128 for keys and values; two norms
  CHECK(workload::parameter_count(model) ==
        24 * attention + 2 * 3 * h * 8192 + 22 * (3 * h * 1024 * 10 + h * 8) + 2 * 32000 * h + h);
}

TEST_CASE("windows") {
  CHECK(imported({{"job.sh", with("--window-size 1023,0")}}, on("h100-cluster")).value("model.sliding_window") ==
        "1024");
  CHECK(errors_with("--window-size x").front().find("--window-size: expected tokens before and behind") !=
        std::string::npos);
  CHECK(errors_with("--window-size 127,0 --window-attn-skip-freq 2").front().find("windows in some layers") !=
        std::string::npos);
}

TEST_CASE("a configuration of NeMo's launcher, its sums and names resolved") {
  const std::string yaml = R"(trainer:
  num_nodes: 16
  devices: 8
  precision: bf16
model:
  micro_batch_size: 1
  global_batch_size: 256
  tensor_model_parallel_size: 4
  pipeline_model_parallel_size: 8
  virtual_pipeline_model_parallel_size: 6
  encoder_seq_length: 2048
  max_position_embeddings: ${.encoder_seq_length}
  num_layers: 96
  hidden_size: 12288
  ffn_hidden_size: ${multiply:4, ${.hidden_size}}
  num_attention_heads: 96
  hidden_dropout: 0.1
  kv_channels: null
  sequence_parallel: True
  fp8: False
  activations_checkpoint_granularity: null
  tokenizer:
    type: 'GPT2BPETokenizer'
  optim:
    name: distributed_fused_adam
    overlap_grad_sync: True
    overlap_param_sync: true
)";
  const auto made = imported({{"gpt.yaml", yaml}}, on("h100-cluster"));
  CHECK(made.errors == Lines{});
  REQUIRE(made.built != nullptr);
  const std::vector<std::pair<std::string, std::string>> expected{
      {"machine.topology.nodes", "16"},    {"model.ffn_hidden", "49152"},
      {"model.max_positions", "2048"},     {"model.vocabulary", "50257"},
      {"strategy.interleave", "6"},        {"strategy.data", "4"},
      {"strategy.optimizer", "\"fused\""}, {"strategy.recomputation", "\"none\""},
      {"workload.datatype", "\"bf16\""},   {"strategy.gradient_precision", "\"fp16\""},
      {"strategy.user_buffers", "false"}};
  for (const auto& [key, value] : expected) {
    INFO(key);
    CHECK(made.value(key) == value);
  }
  std::string fp8 = yaml;
  fp8.replace(fp8.find("fp8: False"), 10, "fp8: True ");
  const auto in_fp8 = imported({{"gpt.yaml", fp8}}, on("h100-cluster"));
  CHECK(in_fp8.errors == Lines{});
  CHECK(in_fp8.value("workload.product_datatype") == "\"fp8\"");
  CHECK(imported({{"x.yaml", "a: 1\n"}}, on("h100-cluster"))
            .errors.front()
            .find("x.yaml:1:1: no \"num_layers\" in this configuration") == 0);
}

TEST_CASE("options as keys, as Megatron-LM's own tests are written") {
  const std::string yaml =
      "ENV_VARS:\n  A: 1\nMODEL_ARGS:\n  --num-layers: 12\n  --hidden-size: 512\n  --num-attention-heads: 8\n  "
      "--seq-length: 1024\n"
      "  --max-position-embeddings: 1024\n  --vocab-size: 1024\n  --micro-batch-size: 4\n  --global-batch-size: 32\n  "
      "--bf16: true\n  --disable-bias-linear: true\n";
  auto request = on("h100-cluster");
  request.nodes = 1;
  const auto made = imported({{"model_config.yaml", yaml}}, request);
  CHECK(made.errors == Lines{});
  CHECK(made.value("model.bias") == "false");
  CHECK(made.value("strategy.data") == "8");
  CHECK(made.value("strategy.gradient_precision") == "\"fp32\"");
}

}  // namespace tessera::experiment
