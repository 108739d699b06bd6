// Qwen 1.5, 2 and 3 with experts (transformers, models/qwen2_moe/modeling_qwen2_moe.py,
// models/qwen3_moe/modeling_qwen3_moe.py).
#include <algorithm>

#include "layer_names.hpp"
#include "llama_layers.hpp"

namespace tessera::workload {

std::vector<bool> sparse_layers(HuggingFaceConfig& config, const Model& model) {
  const std::int64_t step = config.integer_or("layer_sequence", {"decoder_sparse_step"}, 1);
  const std::vector<std::int64_t> dense = config.integers_or("mlp_only_layers");
  std::vector<bool> sparse;
  for (std::int64_t layer = 0; layer < model.layers; ++layer)
    sparse.push_back((layer + 1) % step == 0 && std::ranges::find(dense, layer) == dense.end());
  return sparse;
}

namespace {

/// Each layer's kind.
std::vector<std::string> kinds_of_layers(HuggingFaceConfig& config, const Model& model) {
  std::vector<std::string> layers;
  for (const bool is_sparse : sparse_layers(config, model)) layers.emplace_back(is_sparse ? "moe" : "dense");
  return layers;
}

/// Comes last: kinds are as the model is.
void read_experts(HuggingFaceConfig& config, Model& model) {
  model.experts = config.integer("experts", {"num_experts", "num_local_experts"});
  model.experts_per_token = config.integer("experts_per_token", {"num_experts_per_tok"});
  LayerKind with_experts = kind_as(model, "moe"), dense = kind_as(model, "dense");
  with_experts.ffn_hidden = config.integer("ffn_hidden", {"moe_intermediate_size"});
  make_dense(dense);
  set_kinds({with_experts, dense}, kinds_of_layers(config, model), model);
  config.ignore({"norm_topk_prob", "output_router_logits", "router_aux_loss_coef"});
  // Published files have it off, with a window that is not used.
  config.must_be_off({"use_sliding_window"});
  config.ignore({"max_window_layers", "sliding_window"});
}

}  // namespace

Model read_qwen2_moe(HuggingFaceConfig& config) {
  Model model = read_llama_layers(config, false);
  model.qkv_bias = config.boolean_or("qkv_bias", true);
  model.shared_experts = 1;
  model.shared_ffn_hidden = config.integer("shared_ffn_hidden", {"shared_expert_intermediate_size"});
  model.shared_gate = true;
  read_experts(config, model);
  return model;
}

Model read_qwen3_moe(HuggingFaceConfig& config) {
  Model model = read_llama_layers(config, false);
  model.query_key_norm = QueryKeyNorm::shared;
  read_attention_bias(config, false, model);
  read_experts(config, model);
  return model;
}

}  // namespace tessera::workload
