// Llama 4 (transformers, models/llama4/modeling_llama4.py): layers with experts among dense ones, and layers that see a
// chunk, with rotary positions, among those that see everything, without.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "layer_names.hpp"
#include "llama_layers.hpp"
#include "vision_towers.hpp"

namespace tessera::workload {
namespace {

/// Layers that see a chunk, of a list with a 1 for each; an empty one stands for three of four.
std::vector<bool> chunked_layers(HuggingFaceConfig& config, const Model& model) {
  const std::int64_t period = config.integer_or("layer_sequence", {"no_rope_layer_interval"}, 4);
  const std::vector<std::int64_t> listed = config.integers_or("no_rope_layers");
  const std::vector<std::string> types = config.texts_or("layer_types");
  std::vector<bool> chunked;
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    const auto i = static_cast<std::size_t>(layer);
    if (!listed.empty() && listed.size() != static_cast<std::size_t>(model.layers)) {
      config.refuse("no_rope_layers", fmt::format("one for each of the {} layers", model.layers));
      return {};
    }
    chunked.push_back(listed.empty() ? (layer + 1) % period != 0 : listed[i] != 0);
    if (types.empty()) continue;
    if (i >= types.size() || types[i] != (chunked.back() ? "chunked_attention" : "full_attention")) {
      config.refuse("layer_types", "chunked attention where there are rotary positions, and nowhere else");
      return {};
    }
  }
  return chunked;
}

std::vector<bool> layers_with_experts(HuggingFaceConfig& config, const Model& model) {
  const std::int64_t step = config.integer_or("layer_sequence", {"interleave_moe_layer_step"}, 1);
  const std::vector<std::int64_t> listed = config.integers_or("moe_layers");
  std::vector<bool> experts;
  for (std::int64_t layer = 0; layer < model.layers; ++layer)
    experts.push_back(listed.empty() ? (layer + 1) % step == 0 : std::ranges::find(listed, layer) != listed.end());
  return experts;
}

/// Queries that no position turns are scaled by it.
LayerKind kind_of(const Model& model, bool chunked, bool experts, bool scaled, std::int64_t dense_width) {
  LayerKind kind = kind_as(model, std::string(chunked ? "chunked-" : "full-") + (experts ? "moe" : "dense"));
  if (chunked) return experts ? kind : (make_dense(kind), kind.ffn_hidden = dense_width, kind);
  kind.attention_chunk = 0;
  kind.rotary_fraction = 0;
  kind.query_key_norm = QueryKeyNorm::none;
  kind.scaled_queries = scaled;
  if (!experts) {
    make_dense(kind);
    kind.ffn_hidden = dense_width;
  }
  return kind;
}

}  // namespace

Model read_llama4_text(HuggingFaceConfig& config) {
  Model model = read_llama_layers(config, false);
  read_attention_bias(config, false, model);
  model.attention_chunk = config.integer_or("attention_chunk", {"attention_chunk_size"}, 8192);
  if (config.boolean_or("use_qk_norm", true)) model.query_key_norm = QueryKeyNorm::unweighted;
  model.experts = config.integer("experts", {"num_local_experts"});
  model.experts_per_token = config.integer_or("experts_per_token", {"num_experts_per_tok"}, 1);
  model.shared_experts = 1;
  const bool scaled = config.truth_or("attn_temperature_tuning", true);
  const std::int64_t dense_width = config.integer_or("ffn_hidden", {"intermediate_size_mlp"}, 16384);
  config.ignore({"attn_scale", "floor_scale", "for_llm_compression", "output_router_logits", "router_aux_loss_coef",
                 "router_jitter_noise"});
  const std::vector<bool> chunked = chunked_layers(config, model), experts = layers_with_experts(config, model);
  std::vector<LayerKind> kinds;
  std::vector<std::string> layers;
  for (const bool has_chunk : {true, false})
    for (const bool has_experts : {true, false})
      kinds.push_back(kind_of(model, has_chunk, has_experts, scaled, dense_width));
  for (std::size_t i = 0; i < chunked.size(); ++i) layers.push_back(kinds[2 * !chunked[i] + !experts[i]].name);
  set_kinds(kinds, layers, model);
  return model;
}

namespace {

/// Layers of 2 x 2 patches side by side, then two linear layers, which are the tower's, and one more. Positions are
/// learnt and turn queries and keys as well.
Vision read_llama4_tower(HuggingFaceConfig& config) {
  Vision vision;
  read_tower_dimensions(config, vision);
  vision.rotary = vision.class_token = vision.input_norm = vision.final_norm = true;
  const std::int64_t side = vision.image_height / vision.patch;
  vision.position_rows = side * side + 1;
  const double ratio = config.number_or("merge", {"pixel_shuffle_ratio"}, 0.5, 1);
  vision.merge = ratio > 0 ? std::llround(1 / ratio) : 0;
  if (ratio <= 0 || static_cast<double>(vision.merge) * ratio != 1)
    config.report("pixel_shuffle_ratio", "it is not 1 / n of a whole number n");
  if (vision.hidden * vision.merge * vision.merge != vision.ffn_hidden)
    config.report("intermediate_size", "the projector reads as many elements: allowed is hidden_size / ratio^2");
  vision.projector = {config.integer_or("projector", {"projector_input_dim"}, 4096),
                      config.integer_or("projector", {"projector_output_dim"}, 4096)};
  vision.projector_bias = false;
  config.must_be("vision_feature_select_strategy", "default");
  config.must_be_off({"attention_dropout", "multi_modal_projector_bias", "projector_dropout"});
  if (config.integer_or("layers_run", {"vision_feature_layer"}, -1, -10'000) != -1)
    config.refuse("vision_feature_layer", "-1");
  config.ignore({"hidden_act", "norm_eps", "rope_theta", "rope_parameters", "vision_output_dim"});
  return vision;
}

}  // namespace

Model read_llama4(HuggingFaceConfig& config) {
  Vision vision;
  static_cast<void>(config.within("vision_config", "vision", [&] { vision = read_llama4_tower(config); }));
  config.ignore({"boi_token_index", "eoi_token_index", "image_token_index"});
  Model model = config.enter("text_config") ? read_llama4_text(config) : Model{};
  add_vision(vision, model);
  return model;
}

}  // namespace tessera::workload
