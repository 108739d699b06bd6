// A vision tower and its projector, in front of the embedding: on the first stage of the pipeline, as Megatron-LM has
// them (examples/multimodal/model.py). Tensor ranks cut them as they cut layers; sequence parallelism and chunked
// products are of the language model alone.
#pragma once

#include "edge_blocks.hpp"

namespace tessera::strategy::megatron {

/// Whether passes run the tower: prompts and training do, a token that is generated does not.
[[nodiscard]] bool runs_vision(const Cut& cut);
/// Of one micro-batch: the tower, then the projector. There is no backward pass outside training.
[[nodiscard]] EdgeBlocks add_vision(program::Program& program, const Cut& cut);

/// The collectives of its backward pass that run on the stream beside, where there is one (beside_stream.cpp), of one
/// micro-batch in their order.
[[nodiscard]] program::BlockId vision_beside(program::Program& program, const Cut& cut);

/// Parameters of the tower on a device of the first stage, by whether they are trained.
struct VisionWeights {
  std::int64_t trained = 0, frozen = 0;
};
[[nodiscard]] VisionWeights vision_weights(const Cut& cut);
/// B: what is between two kernels of a tower that keeps nothing.
[[nodiscard]] std::int64_t vision_buffers(const Cut& cut);
/// ps: of operators of one micro-batch, forward and in training backward, on an idle device.
[[nodiscard]] double vision_time(const Cut& cut, const workload::CostModel& cost);
/// "24 layers, 23 of them run, frozen; 1 image of 576 tokens a sequence"; outside training all are as they are.
[[nodiscard]] std::string vision_text(const Cut& cut);

/// What a model with a tower cannot be cut by. Problems go to `diagnostics`.
void check_vision(const config::Table& table, const Job& job, const Cut& cut, config::Diagnostics& diagnostics);

}  // namespace tessera::strategy::megatron
