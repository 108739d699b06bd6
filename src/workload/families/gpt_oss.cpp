// gpt-oss (OpenAI 2025, arXiv 2508.10925; transformers, models/gpt_oss/modeling_gpt_oss.py): biases everywhere, sinks,
// and a window in every other layer.
#include "llama_layers.hpp"

namespace tessera::workload {

Model read_gpt_oss(HuggingFaceConfig& config) {
  Model model = read_llama_layers(config, false);
  if (model.head_dim == 0) model.head_dim = 64;
  read_attention_bias(config, true, model);
  model.bias = model.router_bias = model.attention_sinks = true;
  model.experts = config.integer("experts", {"num_local_experts"});
  model.experts_per_token = config.integer("experts_per_token", {"num_experts_per_tok", "experts_per_token"});
  model.sliding_window = config.integer_or("sliding_window", {"sliding_window"}, 128, 0);
  config.ignore({"initial_context_length", "output_router_logits", "router_aux_loss_coef", "swiglu_limit"});
  config.accept_quantization();
  read_layer_types(
      config, [](std::int64_t layer) { return layer % 2 == 0; }, model);
  return model;
}

}  // namespace tessera::workload
