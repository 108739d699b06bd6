#include "layer_names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::workload {
namespace {

std::size_t period_of(const std::vector<std::string>& layers) {
  const auto repeats = [&](std::size_t period) {
    for (std::size_t i = period; i < layers.size(); ++i)
      if (layers[i] != layers[i - period]) return false;
    return true;
  };
  std::size_t period = 1;
  while (!repeats(period)) ++period;
  return period;
}

}  // namespace

LayerKind kind_as(const Model& model, const std::string& name) {
  LayerKind kind;
  static_cast<LayerFields&>(kind) = model;
  kind.name = name;
  return kind;
}

void set_kinds(const std::vector<LayerKind>& kinds, const std::vector<std::string>& layers, Model& model) {
  if (layers.empty()) return;
  const auto is_used = [&](const LayerKind& kind) { return std::ranges::find(layers, kind.name) != layers.end(); };
  std::vector<LayerKind> used;
  std::ranges::copy_if(kinds, std::back_inserter(used), is_used);
  if (used.size() == 1) {
    static_cast<LayerFields&>(model) = used.front();
    return;
  }
  model.layer_kinds = std::move(used);
  const std::size_t period = period_of(layers);
  for (std::size_t first = 0, end = 0; first < period; first = end) {
    while (end < period && layers[end] == layers[first]) ++end;
    model.layer_sequence.push_back(end - first == 1 ? layers[first]
                                                    : fmt::format("{} * {}", layers[first], end - first));
  }
}

void make_dense(LayerFields& kind) {
  kind.experts = kind.experts_per_token = kind.shared_experts = kind.shared_ffn_hidden = 0;
  kind.expert_groups = kind.groups_per_token = 0;
  kind.shared_gate = kind.router_bias = false;
}

void set_dense_layers_first(std::int64_t dense, std::int64_t expert_width, Model& model) {
  LayerKind with_experts = kind_as(model, "moe"), without = kind_as(model, "dense");
  with_experts.ffn_hidden = expert_width;
  make_dense(without);
  std::vector<std::string> layers(static_cast<std::size_t>(model.layers), with_experts.name);
  std::fill_n(layers.begin(), std::min(dense, model.layers), without.name);
  set_kinds({with_experts, without}, layers, model);
}

}  // namespace tessera::workload
