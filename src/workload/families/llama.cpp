// LLaMA 1 to 3 and Mistral (transformers, models/llama/modeling_llama.py, models/mistral/modeling_mistral.py).
#include "llama_layers.hpp"

namespace tessera::workload {

Model read_llama(HuggingFaceConfig& config) {
  Model model = read_llama_layers(config, false);
  model.sliding_window = config.integer_or("sliding_window", {"sliding_window"}, 0, 0);
  read_attention_bias(config, false, model);
  model.bias = config.boolean_or("mlp_bias", false);
  config.ignore({"max_sequence_length", "rope_interleaved"});
  return model;
}

}  // namespace tessera::workload
