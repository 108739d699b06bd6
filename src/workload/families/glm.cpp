// GLM-4-9B, and GLM-4-0414 (transformers, models/glm/modeling_glm.py, models/glm4/modeling_glm4.py).
#include "llama_layers.hpp"

namespace tessera::workload {
namespace {

Model read_glm_layers(HuggingFaceConfig& config, bool has_bias) {
  Model model = read_llama_layers(config, false);
  model.qkv_bias = config.boolean_or("attention_bias", has_bias);  // of queries, keys and values alone
  read_rotary_fraction(config, "partial_rotary_factor", 0.5, model);
  return model;
}

}  // namespace

Model read_glm(HuggingFaceConfig& config) { return read_glm_layers(config, false); }

Model read_glm4(HuggingFaceConfig& config) {
  Model model = read_glm_layers(config, true);
  model.sublayer_norms = SublayerNorms::both;
  return model;
}

}  // namespace tessera::workload
