// Models whose layers differ: which layer is of which kind.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "layer/mixer.hpp"
#include "layer_keys.hpp"

namespace tessera::workload {
namespace {

struct Run {
  std::string_view kind;
  std::int64_t layers = 1;  ///< 0: no such number
};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// "dense", or "dense * 3".
Run run_of(std::string_view text) {
  const std::size_t star = text.find('*');
  Run run{trimmed(text.substr(0, star)), 1};
  if (star == std::string_view::npos) return run;
  const std::string_view number = trimmed(text.substr(star + 1));
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), run.layers);
  if (error != std::errc() || end != number.data() + number.size() || run.layers < 0) run.layers = 0;
  return run;
}

config::Schema<LayerKind> make_kind_schema(bool is_whole) {
  config::Schema<LayerKind> s("model.layer_kinds", "One kind of layers; what it leaves out is as the model says.");
  s.text("name", &LayerKind::name, "of the kind, for layer_sequence");
  config::FieldHandle heads = s.integer("heads", &LayerKind::heads, "query heads a").at_least("1").at_most("1000000");
  if (!is_whole) heads.optional();
  const LayerKeys keys(s, is_whole);
  keys.add_mixer();
  keys.add_attention();
  keys.add_block();
  keys.add_mlp();
  keys.add_diffusion();
  return s;
}

/// With all of its fields.
const config::Schema<LayerKind>& whole_kind_schema() {
  static const config::Schema<LayerKind> schema = make_kind_schema(true);
  return schema;
}

/// The model's own fields as those of a kind.
LayerKind kind_of_all(const Model& model) {
  LayerKind kind;
  static_cast<LayerFields&>(kind) = model;
  return kind;
}

bool is_same(const config::Table& table, const std::string& key, const config::Value& value) {
  config::Table one, other;
  other.set(key, value);
  if (const config::Value* found = table.find(key)) one.set(key, *found);
  return config::same_content(one, other);
}

}  // namespace

const config::Schema<LayerKind>& layer_kind_schema() {
  static const config::Schema<LayerKind> schema = make_kind_schema(false);
  return schema;
}

void complete_kinds(const config::Table& table, Model& model, config::Diagnostics& diagnostics) {
  const config::Value* kinds = table.find("layer_kinds");
  if (kinds == nullptr) return;
  model.layer_kinds.clear();
  const LayerKind of_model = kind_of_all(model);
  for (const config::Value& kind : *kinds->array()) {
    config::Table whole(kind.where());
    whole_kind_schema().write(of_model, whole);
    config::merge(whole, *kind.table());
    model.layer_kinds.push_back(whole_kind_schema().read(whole, diagnostics));
  }
}

void write_model(const Model& model, config::Table& table) {
  model_schema().write(model, table);
  if (model.layer_kinds.empty()) return;
  config::Table same;
  whole_kind_schema().write(kind_of_all(model), same);
  config::Array kinds;
  for (const LayerKind& kind : model.layer_kinds) {
    auto own = std::make_shared<config::Table>();
    config::Table whole;
    whole_kind_schema().write(kind, whole);
    for (const auto& [key, value] : whole.entries())
      if (!is_same(same, key, value)) own->set(key, value);
    kinds.push_back({std::move(own), {}});
  }
  table.set("layer_kinds", {std::move(kinds), {}});
}

std::uint32_t layer_kinds(const Model& model) {
  return static_cast<std::uint32_t>(std::max<std::size_t>(1, model.layer_kinds.size()));
}

const LayerFields& layer_kind(const Model& model, std::uint32_t kind) {
  if (model.layer_kinds.empty()) return model;
  return model.layer_kinds.at(kind);
}

std::uint32_t kind_of(const Model& model, std::int64_t layer) {
  return model.kind_of_layer.empty() ? 0 : model.kind_of_layer.at(static_cast<std::size_t>(layer));
}

std::string kind_name(const Model& model, std::uint32_t kind) {
  if (!model.layer_kinds.empty()) return model.layer_kinds.at(kind).name + " layer";
  return is_moe(model) ? "MoE layer" : "layer";
}

bool has_experts(const Model& model) {
  for (std::uint32_t kind = 0; kind < layer_kinds(model); ++kind)
    if (is_moe(layer_kind(model, kind))) return true;
  return false;
}

std::int64_t most_heads(const Model& model) {
  std::int64_t most = 0;
  for (std::uint32_t kind = 0; kind < layer_kinds(model); ++kind) most = std::max(most, layer_kind(model, kind).heads);
  return most;
}

bool sums_norm_statistics(const LayerFields& kind) { return kind.query_key_norm == QueryKeyNorm::whole_width; }

bool has_projection_bias(const Model& model) {
  return model.projection_bias == ProjectionBias::as_bias ? model.bias : model.projection_bias == ProjectionBias::yes;
}

std::int64_t norm_vectors(const Model& model) { return model.norm == Norm::layernorm && model.norm_bias ? 2 : 1; }

std::int64_t norms_of(const LayerFields& kind) {
  const std::int64_t each = kind.sublayer_norms == SublayerNorms::both ? 2 : 1;
  return each * (kind.parallel_block == ParallelBlock::one_norm || !kind.mlp ? 1 : 2);
}

std::vector<std::pair<std::string, Mixer>> mixer_choices() {
  std::vector<std::pair<std::string, Mixer>> choices;
  for (const layer::MixerKind& kind : layer::mixer_kinds()) choices.emplace_back(kind.key, kind.mixer);
  return choices;
}

std::string other_mixer(const Model& model) {
  for (std::uint32_t kind = 0; kind < layer_kinds(model); ++kind)
    if (const LayerFields& fields = layer_kind(model, kind); !has_attention(fields))
      return std::string(layer::mixer_kind(fields.mixer).words) + " layers";
  return {};
}

std::string without_vocabulary(const Model& model) {
  if (is_diffusion(model)) return "patches of images in the place of a vocabulary";
  return model.vocabulary == 0 ? "no vocabulary" : "";
}

std::string beyond_plain(const Model& model) {
  if (has_vision(model)) return "a vision tower (model.vision.images = 0 leaves it out)";
  if (std::string ends = without_vocabulary(model); !ends.empty()) return ends;
  if (model.prediction_depth > 0) return "modules that predict further ahead (prediction_depth)";
  if (layer_kinds(model) > 1) return "several kinds of layers";
  if (const std::string mixer = other_mixer(model); !mixer.empty()) return mixer;
  const LayerFields& kind = layer_kind(model, 0);
  if (!kind.mlp) return "layers without an MLP";
  if (kind.sliding_window > 0) return "a sliding window";
  if (is_parallel(kind)) return "attention and MLP side by side (parallel_block)";
  if (kind.sublayer_norms != SublayerNorms::input) return "norms behind attention and MLP (sublayer_norms)";
  if (kind.query_key_norm != QueryKeyNorm::none) return "norms of queries and keys (query_key_norm)";
  if (kind.attention_softcap > 0) return "a soft cap of scores (attention_softcap)";
  if (kind.attention_chunk > 0) return "attention in chunks";
  if (kind.attention_sinks) return "attention sinks";
  if (is_latent(kind)) return "latent attention";
  if (kind.output_gate) return "a gate on attention's output (output_gate)";
  if (kind.scaled_queries) return "scaled queries";
  if (kind.value_dim > 0 && kind.value_dim != kind.head_dim) return "values of another size than keys";
  if (kind.shared_ffn_hidden > 0 || kind.shared_gate || kind.router_bias)
    return "shared experts or a router of its own";
  return {};
}

std::string number_layers(Model& model) {
  model.kind_of_layer.clear();
  if (model.layer_kinds.empty()) return model.layer_sequence.empty() ? "" : "it names kinds, and the model has none";
  std::vector<std::uint32_t> period;
  std::vector<bool> is_used(model.layer_kinds.size());
  for (const std::string& text : model.layer_sequence) {
    const Run run = run_of(text);
    const auto found = std::ranges::find(model.layer_kinds, run.kind, &LayerKind::name);
    if (found == model.layer_kinds.end() || run.layers < 1 || run.layers > model.layers) {
      return fmt::format("\"{}\", allowed: {}, and how many of them, such as \"{} * 2\", up to {}", text,
                         config::listed(config::names_of(model.layer_kinds)), model.layer_kinds.front().name,
                         model.layers);
    }
    const auto kind = static_cast<std::uint32_t>(found - model.layer_kinds.begin());
    is_used[kind] = true;
    period.insert(period.end(), static_cast<std::size_t>(run.layers), kind);
  }
  const auto unused = std::ranges::find(is_used, false);
  if (unused != is_used.end())
    return "no layer is of kind \"" + model.layer_kinds[static_cast<std::size_t>(unused - is_used.begin())].name + "\"";
  if (period.size() > static_cast<std::size_t>(model.layers))
    return fmt::format("it lists {} layers, allowed: up to {}", period.size(), model.layers);
  for (std::int64_t layer = 0; layer < model.layers; ++layer)
    model.kind_of_layer.push_back(period[static_cast<std::size_t>(layer) % period.size()]);
  return {};
}

}  // namespace tessera::workload
