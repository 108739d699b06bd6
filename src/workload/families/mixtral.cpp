// Mixtral: the LLaMA layer with experts (transformers, models/mixtral/modeling_mixtral.py).
#include "families.hpp"

namespace tessera::workload {

Model read_mixtral(HuggingFaceConfig& config) {
  Model model = read_llama(config);
  model.experts = config.integer("experts", {"num_local_experts"});
  model.experts_per_token = config.integer("experts_per_token", {"num_experts_per_tok"});
  config.ignore({"output_router_logits", "router_aux_loss_coef", "router_jitter_noise"});
  return model;
}

}  // namespace tessera::workload
