// What stands before the first layer of a diffusion transformer and behind the last one, in the place of embedding and
// logits (diffusers, SD3Transformer2DModel): the patches of a noisy image and the tokens of a text become activations,
// a timestep and a pooled text the vector that modulates all layers; behind the layers patches become what the noise is
// to be replaced by, and the loss is its mean square error.
#pragma once

#include "tessera/workload/transformer.hpp"

namespace tessera::workload {

/// Weights are whole on each tensor rank, which under sequence parallelism has tokens of its own. A sequence without
/// patches: KeyError.
[[nodiscard]] EmbeddingOperators diffusion_embedding(const Model& model, const LayerShape& shape);
[[nodiscard]] HeadOperators diffusion_head(const Model& model, const LayerShape& shape);
[[nodiscard]] std::int64_t diffusion_embedding_parameters(const Model& model);
/// The modulation of the last norm is cut over so many tensor ranks.
[[nodiscard]] ParameterShare diffusion_head_parameters(const Model& model, std::int64_t tensor);
/// FLOP of both for one sequence of so many tokens, forward.
[[nodiscard]] Int128 diffusion_end_flops(const Model& model, std::int64_t sequence);

}  // namespace tessera::workload
