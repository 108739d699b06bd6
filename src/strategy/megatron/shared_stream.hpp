// The stream on which shared experts run beside the tokens' way to the others and back (experts.hpp).
#pragma once

#include "stage_blocks.hpp"

namespace tessera::strategy::megatron {

/// Some layer of a stage has it.
[[nodiscard]] bool has_shared_experts_beside(const StageBlocks& blocks, std::uint32_t stage);
/// Of all passes of a stage; `actions`: what it does, in order.
[[nodiscard]] program::BlockId shared_stream(program::Program& program, const StageBlocks& blocks, std::uint32_t stage,
                                             const std::vector<program::PipelineAction>& actions);

}  // namespace tessera::strategy::megatron
