#include "llama_layers.hpp"

#include <fmt/format.h>

#include "layer_names.hpp"

namespace tessera::workload {

std::vector<bool> layers_of_type(HuggingFaceConfig& config, const std::string& type,
                                 const std::function<bool(std::int64_t)>& rule, const Model& model) {
  std::vector<bool> found;
  const std::vector<std::string> types = config.texts_or("layer_types");
  for (std::int64_t layer = 0; types.empty() && layer < model.layers; ++layer) found.push_back(rule(layer));
  for (const std::string& one : types) {
    if (one != type && one != "full_attention") {
      config.refuse("layer_types", fmt::format("\"{}\" and \"full_attention\"", type));
      return {};
    }
    found.push_back(one == type);
  }
  if (static_cast<std::int64_t>(found.size()) == model.layers) return found;
  config.refuse("layer_types", fmt::format("one for each of the {} layers", model.layers));
  return {};
}

Model read_llama_layers(HuggingFaceConfig& config, bool tied) {
  Model model;
  model.layers = config.integer("layers", {"num_hidden_layers"});
  model.hidden = config.integer("hidden", {"hidden_size"});
  model.heads = config.integer("heads", {"num_attention_heads"});
  model.kv_heads = config.integer_or("kv_heads", {"num_key_value_heads"}, model.heads);
  model.head_dim = config.integer_or("head_dim", {"head_dim"}, 0);
  model.ffn_hidden = config.integer("ffn_hidden", {"intermediate_size"});
  model.gated_mlp = true;
  model.vocabulary = config.integer("vocabulary", {"vocab_size"});
  model.max_positions = config.integer_or("max_positions", {"max_position_embeddings"}, 0);
  model.position = PositionEmbedding::rotary;
  model.norm = Norm::rmsnorm;
  model.tied_embeddings = config.boolean_or("tie_word_embeddings", tied);
  model.dropout = model.bias = model.qkv_bias = false;
  model.attention_dropout = config.dropout({"attention_dropout"}, 0.0);
  config.ignore({"hidden_act", "pretraining_tp", "rope_parameters", "rope_scaling", "rope_theta"});
  return model;
}

void read_attention_bias(HuggingFaceConfig& config, bool fallback, Model& model) {
  model.qkv_bias = config.boolean_or("attention_bias", fallback);
  model.projection_bias = model.qkv_bias ? ProjectionBias::yes : ProjectionBias::no;
}

void read_rotary_fraction(HuggingFaceConfig& config, const char* key, double fallback, Model& model) {
  model.rotary_fraction =
      config.number_or("rotary_fraction", {key, "rope_parameters.partial_rotary_factor"}, fallback, 1);
}

double read_softcap(HuggingFaceConfig& config, const char* field, const char* key, double fallback) {
  constexpr double most = 1e6;
  return config.number_or(field, {key}, config.gives(key) ? 0 : fallback, most);
}

void read_layer_types(HuggingFaceConfig& config, const std::function<bool(std::int64_t)>& is_sliding, Model& model) {
  if (model.layers < 1) return;
  const std::vector<bool> sliding = layers_of_type(config, "sliding_attention", is_sliding, model);
  if (sliding.empty()) return;
  if (model.sliding_window == 0) return;
  const LayerKind sliding_kind = kind_as(model, "sliding");
  LayerKind full = kind_as(model, "full");
  full.sliding_window = 0;
  std::vector<std::string> names;
  for (const bool one : sliding) names.push_back(one ? sliding_kind.name : full.name);
  set_kinds({sliding_kind, full}, names, model);
  if (!model.layer_kinds.empty()) model.sliding_window = 0;
}

std::function<bool(std::int64_t)> all_but_each(HuggingFaceConfig& config, std::int64_t period) {
  const std::int64_t of_file =
      config.integer_or("layer_sequence", {"sliding_window_pattern", "_sliding_window_pattern"}, period);
  return [of_file](std::int64_t layer) { return (layer + 1) % of_file != 0; };
}

}  // namespace tessera::workload
