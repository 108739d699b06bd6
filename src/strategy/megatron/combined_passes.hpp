// A forward pass through one chunk layer by layer beside the backward pass of another micro-batch, as Megatron Core
// combines them (core/models/common/model_chunk_schedule_plan.py): all computing on the main stream, all-to-alls of
// experts on another one, each beside computing of the other micro-batch. Of a layer of either:
//
//   main:  attention forward | experts backward | experts forward    | attention backward
//   other: combine backward  | dispatch forward, dispatch backward   | combine forward
#pragma once

#include "stage_blocks.hpp"

namespace tessera::strategy::megatron {

class CombinedPasses {
 public:
  /// Of one stage, and of the ranks of one load. Both outlive it.
  CombinedPasses(program::Program& program, StageBlocks& blocks) : program_(program), blocks_(blocks) {}

  /// The first layer forward beside the last one backward, and so on; those that are left of the longer chunk alone.
  [[nodiscard]] program::BlockId main(const ChunkPlace& forward, const ChunkPlace& backward);
  /// What the other stream does meanwhile.
  [[nodiscard]] program::BlockId exchanges(const ChunkPlace& forward, const ChunkPlace& backward);

 private:
  struct Pair {
    LayerRun forward, backward;  ///< of one layer each
    std::uint32_t times = 0;
  };
  struct Layers {
    std::vector<Pair> pairs;
    std::vector<LayerRun> forward, backward;  ///< that are left of either
  };
  using Chunks = std::pair<std::uint32_t, std::uint32_t>;  ///< of a forward and a backward pass
  [[nodiscard]] program::BlockId write_main(const ChunkPlace& forward, const ChunkPlace& backward);
  [[nodiscard]] program::BlockId write_exchanges(const ChunkPlace& forward, const ChunkPlace& backward) const;
  [[nodiscard]] Layers layers(const ChunkPlace& forward, const ChunkPlace& backward) const;
  [[nodiscard]] program::BlockId pair(const ChunkPlace& forward, const ChunkPlace& backward, const Pair& of);
  [[nodiscard]] program::BlockId pair_exchanges(const Pair& of) const;
  [[nodiscard]] bool travels(const LayerRun& run) const { return is_moe(blocks_.cut().kind(run.kind)); }

  program::Program& program_;
  StageBlocks& blocks_;
  std::map<Chunks, program::BlockId> main_, exchanges_;
};

/// The other stream, in all passes of a stage; `actions`: what it does, in order.
[[nodiscard]] program::BlockId exchange_stream(program::Program& program, StageBlocks& blocks, std::uint32_t stage,
                                               const std::vector<program::PipelineAction>& actions);

}  // namespace tessera::strategy::megatron
