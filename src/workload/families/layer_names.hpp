// Models whose layers are of several kinds, each layer named.
#pragma once

#include <string>
#include <vector>

#include "tessera/workload/model.hpp"

namespace tessera::workload {

/// A kind with all that the model has, for the family to change.
[[nodiscard]] LayerKind kind_as(const Model& model, const std::string& name);

/// Gives the model these kinds, of which `layers` names one for each layer; those that no layer is of are left out.
/// Where one is left the model is of that kind, and has none.
void set_kinds(const std::vector<LayerKind>& kinds, const std::vector<std::string>& layers, Model& model);

/// The first `dense` layers have one MLP, of the width of the model, the others experts, of a width of their own: the
/// model's fields are those of layers with experts, but for ffn_hidden.
void set_dense_layers_first(std::int64_t dense, std::int64_t expert_width, Model& model);

/// What is left of a kind without its experts.
void make_dense(LayerFields& kind);

}  // namespace tessera::workload
