// Forward and backward pass of one transformer layer.
#pragma once

#include "writer.hpp"

namespace tessera::strategy::megatron {

struct LayerBlocks {
  program::BlockId forward = 0;
  program::BlockId backward = 0;  ///< training only
};

/// The layer on a device whose experts have `expert_rank`; `keys`: context of a generation step, 0 as the phase says.
[[nodiscard]] LayerBlocks add_layer(program::Program& program, const Cut& cut, bool moe, std::uint32_t expert_rank,
                                    std::int64_t keys = 0);

/// How often its backward pass uses the stream beside.
[[nodiscard]] inline std::uint32_t beside_uses(bool moe) { return moe ? 1 : 2; }

}  // namespace tessera::strategy::megatron
