// Configurations of NeMo and of Megatron-LM in YAML as experiments.
#include <catch2/catch.hpp>

#include "launch_job.hpp"

namespace tessera::experiment {

using namespace test;

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
