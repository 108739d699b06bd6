// The stream beside the main one on which collectives of input gradients overlap with weight gradients.
#pragma once

#include "stage_blocks.hpp"

namespace tessera::strategy::megatron {

struct StagePasses {
  std::uint32_t stage = 0;
  std::uint32_t passes = 0;  ///< micro-batches
};

/// Of all backward passes of a stage; `actions`: what it does, in order.
[[nodiscard]] program::BlockId beside_stream(program::Program& program, const Cut& cut, const StageBlocks& blocks,
                                             const StagePasses& of,
                                             const std::vector<program::PipelineAction>& actions);

}  // namespace tessera::strategy::megatron
