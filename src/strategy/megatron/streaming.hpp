// Weight streaming (weight_streaming): layer by layer. All micro-batches of a replica pass through a unit, one after
// another, before the unit is given up: it is made whole twice an iteration, and not twice a micro-batch as in FSDP,
// and its gradients leave once (Lie, IEEE Micro 44(3), 2024; Lamy-Poirier 2021, "layered gradient accumulation"). What
// all micro-batches keep stays until the backward pass.
#pragma once

#include "sharding_stream.hpp"
#include "stage_blocks.hpp"

namespace tessera::strategy::megatron {

/// Of an iteration: all units forward, the head with its backward pass at once, and all back.
[[nodiscard]] UnitUses uses_by_layer(const Cut& cut);

/// On the main stream, for a device of that expert-parallel rank with so many micro-batches.
void write_layer_by_layer(program::Program& program, Writer& main, StageBlocks& blocks, std::uint32_t expert_rank,
                          std::uint32_t micro_batches);

}  // namespace tessera::strategy::megatron
