// The blocks that the stages of a pipeline are made of, each made once and shared by all devices that need it.
#pragma once

#include <map>
#include <optional>
#include <tuple>

#include "edge_blocks.hpp"
#include "layer_blocks.hpp"

namespace tessera::strategy::megatron {

/// One chunk of one stage, for the devices of one expert-parallel rank and one class of context ranks.
struct ChunkPlace {
  std::uint32_t stage = 0;
  std::uint32_t chunk = 0;
  std::uint32_t expert_rank = 0;
  std::uint32_t context_rank = 0;
};

/// Consecutive layers of one kind.
struct LayerRun {
  std::uint32_t kind = 0;
  std::uint32_t layers = 0;
  friend auto operator<=>(const LayerRun&, const LayerRun&) = default;
};

class StageBlocks {
 public:
  /// Both outlive it.
  StageBlocks(program::Program& program, const Cut& cut) : program_(program), cut_(cut) {}

  /// `waits`: each unit waits for its weights.
  [[nodiscard]] program::BlockId forward(const ChunkPlace& at, bool waits);
  /// `announce`: each layer whose gradients are complete raises gradients_ready.
  [[nodiscard]] program::BlockId backward(const ChunkPlace& at, bool announce);
  /// One forward pass of a generation step with that many keys in each sequence.
  [[nodiscard]] program::BlockId generation_step(std::uint32_t stage, std::uint32_t expert_rank, std::int64_t keys);

  /// Of one layer, and of what stands before and behind all of them.
  const LayerBlocks& layer(const ChunkPlace& at, std::uint32_t kind, std::int64_t keys = 0);
  const EdgeBlocks& embedding();
  const EdgeBlocks& head();

  /// Ranks whose experts have the same load share their code: the first of them.
  [[nodiscard]] std::uint32_t load_class(std::uint32_t expert_rank) const;
  [[nodiscard]] const Cut& cut() const { return cut_; }
  [[nodiscard]] std::vector<LayerRun> runs(const ChunkPlace& at) const;
  [[nodiscard]] bool has_embedding(const ChunkPlace& at) const { return at.stage == 0 && at.chunk == 0; }
  [[nodiscard]] bool has_head(const ChunkPlace& at) const {
    return at.stage + 1 == cut_.options.pipeline && at.chunk + 1 == cut_.options.interleave;
  }

 private:
  /// What a chunk's code depends on: edges, layers, the load of its experts, what runs again, and the context rank.
  using ChunkKey = std::tuple<bool, bool, std::vector<LayerRun>, std::uint32_t, bool, std::uint32_t, std::uint32_t>;
  [[nodiscard]] ChunkKey key(const ChunkPlace& at, bool announce) const;
  /// So do stages that run the same sections again.
  [[nodiscard]] std::uint32_t recomputation_class(std::uint32_t stage) const;
  program::Program& program_;
  const Cut& cut_;
  std::map<LayerKey, LayerBlocks> layers_;
  std::map<ChunkKey, program::BlockId> forward_, backward_;
  std::optional<EdgeBlocks> embedding_, head_;
};

}  // namespace tessera::strategy::megatron
