#include "stage_blocks.hpp"

#include <algorithm>

#include "parameter_gathering.hpp"

namespace tessera::strategy::megatron {

std::uint32_t StageBlocks::load_class(std::uint32_t expert_rank) const {
  std::uint32_t first = 0;
  while (first < expert_rank && cut_.expert_load[first] != cut_.expert_load[expert_rank]) ++first;
  return first;
}

std::vector<LayerRun> StageBlocks::runs(const ChunkPlace& at) const {
  std::vector<LayerRun> runs;
  const std::int64_t first = cut_.first_layer(at.stage, at.chunk);
  for (std::int64_t i = first; i < cut_.end_layer(at.stage, at.chunk); ++i) {
    const std::uint32_t kind = workload::kind_of(*cut_.model, i);
    if (runs.empty() || runs.back().kind != kind) runs.push_back({kind, 0});
    ++runs.back().layers;
  }
  return runs;
}

StageBlocks::ChunkKey StageBlocks::key(const ChunkPlace& at, bool announce) const {
  std::vector<LayerRun> layers = runs(at);
  const bool moe =
      std::any_of(layers.begin(), layers.end(), [&](const LayerRun& run) { return is_moe(cut_.kind(run.kind)); });
  return {has_embedding(at), has_head(at),
          std::move(layers), moe ? load_class(at.expert_rank) : 0,
          announce,          recomputation_class(at.stage),
          at.context_rank};
}

std::uint32_t StageBlocks::recomputation_class(std::uint32_t stage) const {
  std::uint32_t first = 0;
  while (first < stage && !(cut_.recomputed[first] == cut_.recomputed[stage])) ++first;
  return first;
}

const LayerBlocks& StageBlocks::layer(const ChunkPlace& at, std::uint32_t kind, std::int64_t keys) {
  const LayerKey key{kind, is_moe(cut_.kind(kind)) ? load_class(at.expert_rank) : 0, keys,
                     recomputation_class(at.stage), at.context_rank};
  const auto [found, added] = layers_.try_emplace(key);
  if (added) found->second = add_layer(program_, cut_, key);
  return found->second;
}

const EdgeBlocks& StageBlocks::embedding() {
  if (!embedding_) embedding_ = add_embedding(program_, cut_);
  return *embedding_;
}

const EdgeBlocks& StageBlocks::head() {
  if (!head_) head_ = add_head(program_, cut_);
  return *head_;
}

program::BlockId StageBlocks::forward(const ChunkPlace& at, bool waits) {
  const auto [found, added] = forward_.try_emplace(key(at, waits));
  if (!added) return found->second;
  Writer writer(program_, cut_, waits ? "chunk forward, weights to come" : "chunk forward");
  const auto call = [&](program::BlockId once, std::uint32_t times) {
    if (!waits) return static_cast<void>(writer.builder().call(once, times));
    for (std::uint32_t i = 0; i < times; ++i) {
      wait_for_weights(writer);
      writer.builder().call(once);
    }
  };
  if (has_embedding(at)) call(embedding().forward, 1);
  for (const LayerRun& run : runs(at)) call(layer(at, run.kind).forward, run.layers);
  if (has_head(at)) call(head().forward, 1);
  found->second = writer.builder().done();
  return found->second;
}

program::BlockId StageBlocks::backward(const ChunkPlace& at, bool announce) {
  const auto [found, added] = backward_.try_emplace(key(at, announce));
  if (!added) return found->second;
  Writer writer(program_, cut_, announce ? "chunk backward, gradients complete" : "chunk backward");
  if (has_head(at)) writer.builder().call(head().backward);
  std::vector<LayerRun> layers = runs(at);
  for (auto run = layers.rbegin(); run != layers.rend(); ++run) {
    const program::BlockId once = layer(at, run->kind).backward;
    if (!announce) {
      writer.builder().call(once, run->layers);
      continue;
    }
    for (std::uint32_t i = 0; i < run->layers; ++i) writer.builder().call(once).signal(gradients_ready);
  }
  if (has_embedding(at)) writer.builder().call(embedding().backward);
  found->second = writer.builder().done();
  return found->second;
}

program::BlockId StageBlocks::generation_step(std::uint32_t stage, std::uint32_t expert_rank, std::int64_t keys) {
  const ChunkPlace at{stage, 0, expert_rank};
  Writer writer(program_, cut_, "generation step");
  if (has_embedding(at)) writer.builder().call(embedding().forward);
  for (const LayerRun& run : runs(at)) writer.builder().call(layer(at, run.kind, keys).forward, run.layers);
  if (has_head(at)) writer.builder().call(head().forward);
  return writer.builder().done();
}

}  // namespace tessera::strategy::megatron
