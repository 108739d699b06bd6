// Forward and backward pass of one transformer layer.
#pragma once

#include "writer.hpp"

namespace tessera::strategy::megatron {

struct LayerBlocks {
  program::BlockId forward = 0;
  program::BlockId backward = 0;  ///< training only
};

/// What the code of a layer depends on.
struct LayerKey {
  bool moe = false;
  std::uint32_t expert_rank = 0;
  std::int64_t keys = 0;    ///< context of a generation step; 0: as the phase says
  std::uint32_t stage = 0;  ///< what runs again
  friend auto operator<=>(const LayerKey&, const LayerKey&) = default;
};
[[nodiscard]] LayerBlocks add_layer(program::Program& program, const Cut& cut, const LayerKey& key);

/// How often its backward pass uses the stream beside.
[[nodiscard]] inline std::uint32_t beside_uses(bool moe) { return moe ? 1 : 2; }

}  // namespace tessera::strategy::megatron
