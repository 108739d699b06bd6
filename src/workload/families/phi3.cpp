// Phi-3 mini and medium, Phi-4 and Phi-4-mini (transformers, models/phi3/modeling_phi3.py).
#include "llama_layers.hpp"

namespace tessera::workload {

Model read_phi3(HuggingFaceConfig& config) {
  Model model = read_llama_layers(config, false);
  model.sliding_window = config.integer_or("sliding_window", {"sliding_window"}, 0, 0);
  model.attention_dropout = false;
  model.dropout = config.dropout({"resid_pdrop", "embd_pdrop", "attention_dropout"}, 0.0);
  read_rotary_fraction(config, "partial_rotary_factor", 1, model);
  config.accept_code("Phi3Config");
  // Two keys of Phi-4-mini that no released code reads.
  config.ignore({"original_max_position_embeddings", "full_attn_mod", "interpolate_factor"});
  config.must_be_off({"attention_bias", "mlp_bias", "lm_head_bias"});
  return model;
}

}  // namespace tessera::workload
