// Jamba (Lieber et al. 2024, arXiv 2403.19887; transformers, models/jamba/modeling_jamba.py): Mamba layers with
// attention among them, and experts in some of both.
#include "layer_names.hpp"
#include "llama_layers.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload {
namespace {

/// Every so many layers, from one of the first ones on.
struct Every {
  std::int64_t period = 1, offset = 0;
  [[nodiscard]] bool holds(std::int64_t layer) const { return layer % period == offset; }
};

Every every(HuggingFaceConfig& config, const char* period, const char* offset, const Every& otherwise) {
  const Every read{config.integer_or("layer_sequence", {period}, otherwise.period),
                   config.integer_or("layer_sequence", {offset}, otherwise.offset, 0)};
  if (read.offset >= read.period) config.refuse(offset, "less than \"" + std::string(period) + "\"");
  return read;
}

void read_mixer(HuggingFaceConfig& config, LayerFields& kind, std::int64_t hidden) {
  kind.mixer = Mixer::mamba;
  kind.heads = config.integer_or("heads", {"mamba_expand"}, 2) * hidden;
  kind.kv_heads = kind.sliding_window = 0;  // where all layers are alike, they are the model's
  kind.head_dim = 1;
  kind.state_size = config.integer_or("state_size", {"mamba_d_state"}, 16);
  kind.conv_width = config.integer_or("conv_width", {"mamba_d_conv"}, 4);
  kind.conv_bias = config.boolean_or("mamba_conv_bias", true);
  kind.step_rank = config.integer_or("step_rank", {"mamba_dt_rank"}, ceil_div(hidden, 16));
  kind.state_norms = true;
  config.must_be_off({"mamba_proj_bias"});
  if (!config.boolean_or("mamba_inner_layernorms", true)) config.refuse("mamba_inner_layernorms", "true");
}

}  // namespace

Model read_jamba(HuggingFaceConfig& config) {
  Model model = read_llama_layers(config, false);
  model.position = PositionEmbedding::none;
  model.sliding_window = config.integer_or("sliding_window", {"sliding_window"}, 0, 0);
  LayerFields mamba = model, attention = model;
  read_mixer(config, mamba, model.hidden);
  const std::int64_t experts = config.integer_or("experts", {"num_experts"}, 16);
  const std::int64_t experts_per_token = config.integer_or("experts_per_token", {"num_experts_per_tok"}, 2);
  const Every attends = every(config, "attn_layer_period", "attn_layer_offset", {8, 4});
  const Every has_experts = every(config, "expert_layer_period", "expert_layer_offset", {2, 1});
  config.accept_code("JambaConfig");
  config.ignore({"calc_logits_for_entire_prompt", "n_ctx", "num_logits_to_keep", "output_router_logits",
                 "router_aux_loss_coef", "use_mamba_kernels"});
  // Each mixer without experts, then with them.
  std::vector<LayerKind> kinds{
      {mamba, "mamba-dense"}, {mamba, "mamba-moe"}, {attention, "attention-dense"}, {attention, "attention-moe"}};
  for (const std::size_t with_experts : {1, 3}) {
    kinds[with_experts].experts = experts;
    kinds[with_experts].experts_per_token = experts_per_token;
  }
  std::vector<std::string> layers;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const bool is_moe_layer = experts > 1 && has_experts.holds(layer);
    layers.push_back(kinds[(attends.holds(layer) ? 2 : 0) + (is_moe_layer ? 1 : 0)].name);
  }
  set_kinds(kinds, layers, model);
  return model;
}

}  // namespace tessera::workload
