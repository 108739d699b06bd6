// Weights that the replicas have updated in parts are gathered beside the next forward pass, unit by unit (Megatron
// core's --overlap-param-gather, NeMo's overlap_param_sync). An iteration in the middle of a training begins with the
// gathering of what the one before has updated, and ends with its update.
#pragma once

#include "stage_blocks.hpp"

namespace tessera::strategy::megatron {

/// Whether that is done beside the forward pass.
[[nodiscard]] bool gathers_beside_forward(const Cut& cut);
/// Marks the forward passes of each chunk's first micro-batch: each of their units waits for its weights.
void mark_first_passes(std::vector<program::PipelineAction>& actions);
/// What the stream of the replicas begins with: units of a stage in the order of those passes, each announced.
void write_gathering(Writer& beside, const StageBlocks& blocks, std::uint32_t stage,
                     const std::vector<program::PipelineAction>& actions);
/// Before a unit on the main stream.
void wait_for_weights(Writer& main);

}  // namespace tessera::strategy::megatron
