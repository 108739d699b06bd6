// The blocks that the stages of a pipeline are made of, each made once and shared by all devices that need it.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "edge_blocks.hpp"
#include "layer_blocks.hpp"
#include "prediction_blocks.hpp"

namespace tessera::strategy::megatron {

/// One chunk of one stage, for the devices of one expert-parallel rank and one class of context ranks.
struct ChunkPlace {
  std::uint32_t stage = 0;
  std::uint32_t chunk = 0;
  std::uint32_t expert_rank = 0;
  std::uint32_t context_rank = 0;
};

/// Consecutive layers of one kind that run again alike.
struct LayerRun {
  std::uint32_t kind = 0;
  std::uint32_t layers = 0;
  Repeat repeat = Repeat::none;
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
  /// On the stream beside the main one.
  [[nodiscard]] program::BlockId backward_beside(const ChunkPlace& at);
  /// The two parts of a backward pass. Weight gradients of linear layers are apart, those of the logits too; norms and
  /// embedding do theirs in the first part.
  [[nodiscard]] program::BlockId input_gradient(const ChunkPlace& at);
  [[nodiscard]] program::BlockId weight_gradient(const ChunkPlace& at, bool announce);
  /// One forward pass of a generation step with that many keys in each sequence.
  [[nodiscard]] program::BlockId generation_step(std::uint32_t stage, std::uint32_t expert_rank, std::int64_t keys);

  /// Of one layer, and of what stands before (a vision tower too) and behind all of them.
  const LayerBlocks& layer(const ChunkPlace& at, const LayerRun& run, std::int64_t keys = 0);
  const LayerPieces& pieces(const ChunkPlace& at, const LayerRun& run);
  const EdgeBlocks& embedding();
  const EdgeBlocks& head();
  /// Of one module that predicts further ahead.
  const EdgeBlocks& prediction(const ChunkPlace& at);

  /// Ranks whose experts have the same load share their code: the first of them.
  [[nodiscard]] std::uint32_t load_class(std::uint32_t expert_rank) const;
  [[nodiscard]] const Cut& cut() const { return cut_; }
  [[nodiscard]] std::vector<LayerRun> runs(const ChunkPlace& at) const;
  /// Calls act(run, false) for each run of a chunk in the order of its backward pass, and before that of the last run
  /// of a group act(run, true) for those of the group, which run again.
  void for_each_backward(const ChunkPlace& at, const std::function<void(const LayerRun&, bool)>& act) const;
  [[nodiscard]] bool has_embedding(const ChunkPlace& at) const { return cut_.has_embedding(at.stage, at.chunk); }
  [[nodiscard]] bool has_head(const ChunkPlace& at) const { return cut_.has_head(at.stage, at.chunk); }

 private:
  /// What a chunk's code depends on: edges, layers, the load of its experts, what runs again, and the context rank.
  using ChunkKey = std::tuple<bool, bool, std::vector<LayerRun>, std::uint32_t, bool, std::uint32_t, std::uint32_t>;
  [[nodiscard]] ChunkKey key(const ChunkPlace& at, bool announce) const;
  /// All layers of a chunk from the last to the first one.
  void write_backward(Writer& writer, const ChunkPlace& at, program::BlockId LayerBlocks::*part, bool announce);
  /// All modules of a chunk, one after another.
  void write_predictions(Writer& writer, const ChunkPlace& at, program::BlockId EdgeBlocks::*part, bool announce);
  [[nodiscard]] LayerKey layer_key(const ChunkPlace& at, const LayerRun& run, std::int64_t keys) const;
  /// So do stages that run the same sections again.
  [[nodiscard]] std::uint32_t recomputation_class(std::uint32_t stage) const;
  [[nodiscard]] EdgeBlocks add_entry();
  program::Program& program_;
  const Cut& cut_;
  std::map<LayerKey, LayerBlocks> layers_;
  std::map<LayerKey, LayerPieces> pieces_;
  std::map<ChunkKey, program::BlockId> forward_, backward_, input_gradient_, weight_gradient_, beside_;
  std::optional<EdgeBlocks> embedding_, entry_, head_;
  std::map<LayerKey, EdgeBlocks> predictions_;  // by their layer
};

}  // namespace tessera::strategy::megatron
