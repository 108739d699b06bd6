// Qwen3-Next (Qwen Team 2025; transformers, models/qwen3_next/modeling_qwen3_next.py): three layers of four are Gated
// DeltaNet, the fourth is attention with a gate on what it makes; all have experts.
#include <algorithm>

#include "layer_names.hpp"
#include "llama_layers.hpp"

namespace tessera::workload {
namespace {

/// Of the kernels that transformers calls (fla/ops/gated_delta_rule/chunk.py).
constexpr std::int64_t chunk = 64;

void read_linear(HuggingFaceConfig& config, LayerFields& kind) {
  kind.mixer = Mixer::gated_delta_net;
  kind.heads = config.integer_or("heads", {"linear_num_value_heads"}, 32);
  kind.kv_heads = 0;  // where all layers are alike, they are the model's
  kind.output_gate = false;
  kind.head_dim = config.integer_or("head_dim", {"linear_value_head_dim"}, 128);
  kind.state_groups = config.integer_or("state_groups", {"linear_num_key_heads"}, 16);
  kind.state_size = config.integer_or("state_size", {"linear_key_head_dim"}, 128);
  kind.conv_width = config.integer_or("conv_width", {"linear_conv_kernel_dim"}, 4);
  kind.scan_chunk = chunk;
}

void read_kinds(HuggingFaceConfig& config, const LayerFields& linear, std::int64_t expert_width, Model& model) {
  const std::int64_t interval = config.integer_or("layer_sequence", {"full_attention_interval"}, 4);
  const std::vector<bool> is_linear = layers_of_type(
      config, "linear_attention", [&](std::int64_t layer) { return (layer + 1) % interval != 0; }, model);
  const std::vector<bool> sparse = sparse_layers(config, model);
  const LayerFields full = model;
  // Each mixer with experts, then without them.
  std::vector<LayerKind> kinds{
      {linear, "linear-moe"}, {linear, "linear-dense"}, {full, "full-moe"}, {full, "full-dense"}};
  for (const std::size_t with_experts : {0, 2}) {
    kinds[with_experts].ffn_hidden = expert_width;
    make_dense(kinds[with_experts + 1]);
  }
  std::vector<std::string> layers;
  for (std::size_t layer = 0; layer < is_linear.size(); ++layer)
    layers.push_back(kinds[(is_linear[layer] ? 0 : 2) + (sparse[layer] ? 0 : 1)].name);
  set_kinds(kinds, layers, model);
}

}  // namespace

Model read_qwen3_next(HuggingFaceConfig& config) {
  config.otherwise("head_dim", 256);
  Model model = read_llama_layers(config, false);
  model.query_key_norm = QueryKeyNorm::shared;
  model.output_gate = true;
  read_attention_bias(config, false, model);
  read_rotary_fraction(config, "partial_rotary_factor", 0.25, model);
  model.experts = config.integer("experts", {"num_experts"});
  model.experts_per_token = config.integer("experts_per_token", {"num_experts_per_tok"});
  model.shared_experts = 1;
  model.shared_ffn_hidden = config.integer("shared_ffn_hidden", {"shared_expert_intermediate_size"});
  model.shared_gate = true;
  LayerFields linear = model;
  read_linear(config, linear);
  const std::int64_t expert_width = config.integer("ffn_hidden", {"moe_intermediate_size"});
  config.must_be_off({"use_sliding_window"});
  config.ignore(
      {"max_window_layers", "norm_topk_prob", "output_router_logits", "router_aux_loss_coef", "sliding_window"});
  read_kinds(config, linear, expert_width, model);
  return model;
}

}  // namespace tessera::workload
