// Layers of diffusion transformers: patches of an image and tokens of a text with weights of their own, which meet in
// attention.
#pragma once

#include <string>
#include <vector>

#include "context.hpp"

namespace tessera::workload::layer {

/// Tokens of a sequence that share weights, as if they were all of it.
struct Stream {
  std::string prefix;  ///< of its operators' names: "", or "text "
  Context context;
  bool goes_on = true;  ///< something is made of its tokens behind attention
};
/// The image's, then the text's. A sequence without patches: KeyError.
[[nodiscard]] std::vector<Stream> streams_of(const Context& joint);

/// The sections of a layer, those of both streams side by side.
[[nodiscard]] LayerOperators joint_layer(const Context& joint);
[[nodiscard]] ParameterShare joint_parameters(const Context& joint);
[[nodiscard]] ParameterShare joint_products(const Context& joint);
/// Weights that the tokens of a sequence of so many meet, each as often as it does, and those of the modulation once.
[[nodiscard]] Int128 joint_weights(const Model& model, const LayerFields& kind, std::int64_t sequence);

/// Linear layers of a sample's vector, one for each number of columns, with their names: column-parallel, what they
/// make is gathered. Behind them stand the norms that need it, which `section` has.
void put_modulation_before(const Context& context, const std::vector<std::pair<std::string, std::int64_t>>& columns,
                           OperatorSet& section);
/// A norm without weights over `context`'s own tokens, shifted and scaled; `residual`: its gradient joins the
/// residual's.
[[nodiscard]] OperatorSet modulated_norm(const Context& context, const std::string& name, bool residual);
/// Columns of a modulation on this rank.
[[nodiscard]] std::int64_t modulation_share(const Context& context, std::int64_t columns);

}  // namespace tessera::workload::layer
