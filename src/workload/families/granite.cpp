// Granite 3 (transformers, models/granite/modeling_granite.py).
#include "llama_layers.hpp"

namespace tessera::workload {

Model read_granite(HuggingFaceConfig& config) {
  Model model = read_llama_layers(config, false);
  read_attention_bias(config, false, model);
  model.bias = config.boolean_or("mlp_bias", false);
  constexpr double most = 1e6;
  model.embedding_scaling = config.number_or("embedding_scaling", {"embedding_multiplier"}, 1, most) != 1;
  // Factors of kernels that run anyway: the softmax, the residual's sum, the logits' product.
  config.ignore({"attention_multiplier", "logits_scaling", "residual_multiplier"});
  return model;
}

}  // namespace tessera::workload
