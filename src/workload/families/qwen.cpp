// Qwen 2, 2.5 and 3, dense (transformers, models/qwen2/modeling_qwen2.py, models/qwen3/modeling_qwen3.py).
#include "llama_layers.hpp"

namespace tessera::workload {
namespace {

/// The last layers have a window, if it is used at all.
void read_windows(HuggingFaceConfig& config, Model& model) {
  const bool is_used = config.boolean_or("use_sliding_window", false);
  const std::int64_t window = config.integer_or("sliding_window", {"sliding_window"}, 4096, 0);
  const std::int64_t first = config.integer_or("layer_sequence", {"max_window_layers"}, 28, 0);
  model.sliding_window = is_used ? window : 0;
  read_layer_types(
      config, [=](std::int64_t layer) { return is_used && layer >= first; }, model);
}

}  // namespace

Model read_qwen2(HuggingFaceConfig& config) {
  Model model = read_llama_layers(config, false);
  model.qkv_bias = true;
  config.must_be_off({"use_mrope"});
  read_windows(config, model);
  return model;
}

Model read_qwen3(HuggingFaceConfig& config) {
  Model model = read_llama_layers(config, false);
  if (model.head_dim == 0) model.head_dim = 128;
  model.query_key_norm = QueryKeyNorm::shared;
  read_attention_bias(config, false, model);
  read_windows(config, model);
  return model;
}

}  // namespace tessera::workload
