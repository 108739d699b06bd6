// Forward and backward pass of one transformer layer.
#pragma once

#include <array>

#include "parallel_linear.hpp"

namespace tessera::strategy::megatron {

struct LayerBlocks {
  program::BlockId forward = 0;
  program::BlockId backward = 0;  ///< training only
  program::BlockId again = 0;     ///< its forward pass for the backward pass of a group of layers, where it is in one
  program::BlockId backward_beside = 0, again_beside = 0;    ///< these two on the stream beside the main one
  program::BlockId input_gradient = 0, weight_gradient = 0;  ///< its two parts, where the schedule splits it
};

/// What the code of a layer depends on.
struct LayerKey {
  std::uint32_t kind = 0;  ///< of the model's kinds of layers
  std::uint32_t expert_rank = 0;
  std::int64_t keys = 0;    ///< context of a generation step; 0: as the phase says
  std::uint32_t stage = 0;  ///< what runs again
  std::uint32_t context_rank = 0;
  Repeat repeat = Repeat::none;
  friend auto operator<=>(const LayerKey&, const LayerKey&) = default;
};
[[nodiscard]] LayerBlocks add_layer(program::Program& program, const Cut& cut, const LayerKey& key);

/// What of a layer runs together, forward, with its communication.
struct PartBlock {
  workload::LayerPart sections;
  program::BlockId forward = 0;
};
/// A layer in the pieces of computing between which its tokens are on their way to experts and back. A dense layer has
/// none on their way: its MLP is the second piece forward and the second one backward.
struct LayerPieces {
  std::array<program::BlockId, 3> forward{}, backward{};
  program::BlockId weight_gradient =
      0;  ///< of the experts' products, where the second piece backward has left them out
};
/// `delays`: it has. What of a layer runs again is in the last piece backward.
[[nodiscard]] LayerPieces add_layer_pieces(program::Program& program, const Cut& cut, const LayerKey& key, bool delays);

/// In the order in which they run.
[[nodiscard]] std::vector<PartBlock> part_blocks(program::Program& program, const Cut& cut, std::uint32_t kind);
/// B: of activations that are made again for the backward pass, at once.
[[nodiscard]] std::int64_t most_made_again(const Cut& cut, std::uint32_t kind, const workload::LayerOperators& layer,
                                           const workload::Recomputed& recomputed);

/// What the sections of a layer move on the stream beside, in the order of the backward pass. Experts communicate in
/// turn.
[[nodiscard]] std::vector<BesideWidths> beside_widths(const Cut& cut, std::uint32_t kind);

}  // namespace tessera::strategy::megatron
