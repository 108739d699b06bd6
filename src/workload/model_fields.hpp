// What both readers of models share.
#pragma once

#include <functional>
#include <string>

#include "tessera/workload/model.hpp"

namespace tessera::workload {

/// A field of Model as the user wrote it: the key that it came from, and where that stands.
struct FieldOrigin {
  std::string key;
  config::Location where;
};
using FieldOrigins = std::function<FieldOrigin(const std::string& field)>;

/// Fills in what a file may leave 0 (kv_heads, head_dim, ffn_hidden) of the model and of its kinds of layers, finds the
/// kind of each layer, and reports dimensions that do not fit together.
void settle_model(Model& model, const FieldOrigins& origin, config::Diagnostics& diagnostics);

}  // namespace tessera::workload
