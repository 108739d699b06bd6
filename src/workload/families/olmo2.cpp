// OLMo 2 and 3 (Team OLMo 2024, arXiv 2501.00656, section 3.2; transformers, models/olmo2/modeling_olmo2.py and
// models/olmo3): norms of what attention and MLP make, and of queries and keys over all heads at once.
#include "llama_layers.hpp"

namespace tessera::workload {

Model read_olmo2(HuggingFaceConfig& config) {
  Model model = read_llama_layers(config, false);
  model.sublayer_norms = SublayerNorms::output;
  model.query_key_norm = QueryKeyNorm::whole_width;
  read_attention_bias(config, false, model);
  return model;
}

Model read_olmo3(HuggingFaceConfig& config) {
  Model model = read_olmo2(config);
  model.sliding_window = config.integer_or("sliding_window", {"sliding_window"}, 4096, 0);
  read_layer_types(config, all_but_each(config, 4), model);
  return model;
}

}  // namespace tessera::workload
