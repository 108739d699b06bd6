// What a vision tower and its projector compute, on one tensor-parallel rank. Tensor ranks share both as the layers of
// the language model; sequence and context parallelism do not reach them (Megatron-LM, examples/multimodal/model.py).
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/workload/transformer.hpp"

namespace tessera::workload {

/// Sequences that stand beside each other.
struct VisionSequences {
  std::int64_t tokens = 0;  ///< of each
  std::int64_t count = 0;
};

/// Patches of a tile.
[[nodiscard]] std::int64_t patches(const Vision& vision);
/// Tokens of the language model's sequence that one image takes.
[[nodiscard]] std::int64_t image_tokens(const Vision& vision);

/// What the images of so many sequences of the language model are to layers that see all of a tile: its patches, and
/// the class token.
[[nodiscard]] VisionSequences tile_sequences(const Vision& vision, std::int64_t sequences);
/// To layers that see a window.
[[nodiscard]] VisionSequences window_sequences(const Vision& vision, std::int64_t sequences);
/// To the projector: the tokens that it makes of a tile.
[[nodiscard]] VisionSequences projected_sequences(const Vision& vision, std::int64_t sequences);

/// The layers as a model of their own, all of which are alike; its name is "the vision tower of NAME".
[[nodiscard]] Model tower_model(const Model& model);
/// Layer 0 .. layers-1 sees a window.
[[nodiscard]] bool sees_window(const Vision& vision, std::int64_t layer);

/// Before the first layer: patches to `hidden` elements, class token, positions, norm. `tower`: tower_model(); `shape`
/// has its tile_sequences(). The images themselves have no gradient.
[[nodiscard]] OperatorSet patch_operators(const Vision& vision, const Model& tower, const LayerShape& shape);
/// Behind the last one: norm, class token dropped, pooling.
[[nodiscard]] OperatorSet tower_end_operators(const Vision& vision, const Model& tower, const LayerShape& shape);

/// A linear layer of the projector, and what comes behind it.
struct ProjectorLinear {
  /// Column-parallel and row-parallel in turn; a last one without a partner is column-parallel, and tensor ranks gather
  /// what it makes.
  bool is_row = false;
  OperatorSet product;
  OperatorSet activation;  ///< and bias; of the last layer the bias alone
};
struct ProjectorOperators {
  OperatorSet joining;  ///< norm, and patches side by side
  std::vector<ProjectorLinear> linears;
  OperatorSet placement;  ///< to the images' places in the sequence
};
/// `shape` has the projected_sequences(). Of a frozen tower there is no gradient of what it makes. A width that the
/// tensor ranks do not divide: InputError.
[[nodiscard]] ProjectorOperators projector_operators(const Model& model, const Model& tower, const LayerShape& shape);

/// Parameters on one tensor rank.
struct VisionParameters {
  ParameterShare tower;      ///< with layers that do not run, and what is never used
  ParameterShare projector;  ///< and separators
  [[nodiscard]] std::int64_t total() const { return tower.total() + projector.total(); }
};
[[nodiscard]] VisionParameters vision_parameters(const Model& model, const Model& tower, const LayerShape& shape);

/// FLOP of products and attention for the images of one sequence, uncut.
struct VisionFlops {
  Int128 forward = 0;
  Int128 backward = 0;  ///< in training: of patches and of the first layer behind a frozen tower no input gradient
};
[[nodiscard]] VisionFlops vision_flops(const Model& model);

}  // namespace tessera::workload
