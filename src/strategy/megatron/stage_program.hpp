// The streams of the devices of a stage.
#pragma once

#include "loan_pairs.hpp"
#include "stage_blocks.hpp"

namespace tessera::strategy::megatron {

/// Devices that do the same.
struct StagePlace {
  std::uint32_t stage = 0;
  std::uint32_t expert_rank = 0;
  std::uint32_t context_rank = 0;   ///< the first that does the same
  std::uint32_t micro_batches = 1;  ///< of their replica
  LoansOfDevice loans;
  friend auto operator<=>(const StagePlace&, const StagePlace&) = default;
};

/// Their streams, for DeviceProgram::streams: the main one, then those beside it. `steps`: blocks of the same cut in
/// generation, for workloads that make tokens.
[[nodiscard]] std::vector<program::BlockId> add_stage(program::Program& program, const Cut& cut, StageBlocks& blocks,
                                                      StageBlocks& steps, const StagePlace& at);

/// Consecutive tokens that are computed with the same number of keys.
struct Segment {
  std::int64_t tokens = 0;
  std::int64_t keys = 0;
};
/// Of a generation.
[[nodiscard]] std::vector<Segment> generation_segments(const Cut& cut);
/// What the last stage tells the first one of a micro-batch: the token that it has chosen for each sequence.
[[nodiscard]] Bytes token_bytes(const Cut& cut);
/// The passes of a stage in generation, where each token of a sequence waits for the one before (generation.cpp).
void write_generation(program::Program& program, Writer& writer, StageBlocks& blocks, std::uint32_t stage,
                      std::uint32_t expert_rank);

}  // namespace tessera::strategy::megatron
