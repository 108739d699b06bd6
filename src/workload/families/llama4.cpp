// Llama 4 (transformers, models/llama4/modeling_llama4.py): layers with experts among dense ones, and layers that see a
// chunk, with rotary positions, among those that see everything, without.
#include <fmt/format.h>

#include <algorithm>

#include "layer_names.hpp"
#include "llama_layers.hpp"

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

Model read_llama4(HuggingFaceConfig& config) {
  config.ignore({"boi_token_index", "eoi_token_index", "image_token_index"});
  config.leave_out("vision_config", "the vision tower and its projector");
  return config.enter("text_config") ? read_llama4_text(config) : Model{};
}

}  // namespace tessera::workload
