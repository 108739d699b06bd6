// Tensor parallelism with sequence parallelism by user buffers (Transformer Engine; Megatron core's --tp-comm-overlap,
// NeMo's ub_tp_comm_overlap): a product and the collective before or behind it are cut into as many chunks as there are
// tensor ranks, and run beside each other but for one chunk. Of an all-gather the rank's own chunk is there at once,
// and the product of the one that comes last follows it; of a reduce-scatter the first chunk waits for its product, and
// the last one is sent when all is computed.
//
//   main stream    signal go | chunks 1 to t - 1 | wait done | chunk t        chunk 1 | signal go | chunks 2 to t |
//   wait done | sum of one chunk beside         all-gather | reduce-scatter of t - 1 chunks
//
// So run the layers' products of forward passes, and the input gradients of row-parallel ones; the collectives of
// column-parallel ones in the backward pass run beside a whole product as without ("bulk", parallel_linear.hpp).
#pragma once

#include "stage_blocks.hpp"

namespace tessera::strategy::megatron::user_buffers {

void column_forward(Writer& writer, const workload::OperatorSet& set, Activity activity);
void row_forward(Writer& writer, const workload::OperatorSet& set, Activity activity);
void row_input_gradient(Writer& writer, const workload::OperatorSet& set);

/// What each of the two streams beside does once.
[[nodiscard]] std::vector<program::BlockId> beside_blocks(program::Program& program, const Cut& cut);
/// Adds the streams of a device of that stage.
void add_streams(program::Program& program, const Cut& cut, const StageBlocks& blocks, std::uint32_t stage,
                 std::int64_t micro_batches, std::vector<program::BlockId>& streams);

}  // namespace tessera::strategy::megatron::user_buffers
