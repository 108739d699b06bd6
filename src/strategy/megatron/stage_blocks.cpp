#include "stage_blocks.hpp"

#include <algorithm>

#include "parameter_gathering.hpp"
#include "vision_blocks.hpp"

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
    const Repeat repeat = cut_.repeat(at.stage, i - first);
    if (runs.empty() || runs.back().kind != kind || runs.back().repeat != repeat) runs.push_back({kind, 0, repeat});
    ++runs.back().layers;
  }
  return runs;
}

namespace {

/// Groups begin with a run of one layer.
bool is_last_of_group(const std::vector<LayerRun>& layers, std::vector<LayerRun>::const_reverse_iterator run) {
  const bool in_group = run->repeat == Repeat::group_first || run->repeat == Repeat::group_next;
  return in_group && (run == layers.rbegin() || (run - 1)->repeat == Repeat::group_first);
}

}  // namespace

StageBlocks::ChunkKey StageBlocks::key(const ChunkPlace& at, bool announce) const {
  std::vector<LayerRun> layers = runs(at);
  const bool moe =
      std::any_of(layers.begin(), layers.end(), [&](const LayerRun& run) { return is_moe(cut_.kind(run.kind)); }) ||
      (cut_.predictions(at.stage, at.chunk) > 0 && is_moe(cut_.kind(workload::prediction_kind(*cut_.model))));
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

LayerKey StageBlocks::layer_key(const ChunkPlace& at, const LayerRun& run, std::int64_t keys) const {
  return {run.kind,
          is_moe(cut_.kind(run.kind)) ? load_class(at.expert_rank) : 0,
          keys,
          recomputation_class(at.stage),
          at.context_rank,
          run.repeat};
}

const LayerBlocks& StageBlocks::layer(const ChunkPlace& at, const LayerRun& run, std::int64_t keys) {
  const LayerKey key = layer_key(at, run, keys);
  const auto [found, added] = layers_.try_emplace(key);
  if (added) found->second = add_layer(program_, cut_, key);
  return found->second;
}

const LayerPieces& StageBlocks::pieces(const ChunkPlace& at, const LayerRun& run) {
  const LayerKey key = layer_key(at, run, 0);
  const auto [found, added] = pieces_.try_emplace(key);
  if (added) found->second = add_layer_pieces(program_, cut_, key, cut_.options.delay_weight_gradients);
  return found->second;
}

const EdgeBlocks& StageBlocks::embedding() {
  if (!embedding_) embedding_ = add_embedding(program_, cut_);
  if (!entry_) entry_ = add_entry();
  return *entry_;
}

/// In front of the embedding stands a tower where there is one: forward it runs first, backward last.
EdgeBlocks StageBlocks::add_entry() {
  EdgeBlocks entry = *embedding_;
  if (!runs_vision(cut_)) return entry;
  const EdgeBlocks vision = add_vision(program_, cut_);
  entry.forward = program::BlockBuilder(program_, "images and embedding forward")
                      .call(vision.forward)
                      .call(embedding_->forward)
                      .done();
  if (!cut_.training()) return entry;
  entry.backward = program::BlockBuilder(program_, "embedding and images backward")
                       .call(embedding_->backward)
                       .call(vision.backward)
                       .done();
  return entry;
}

const EdgeBlocks& StageBlocks::head() {
  if (!head_) head_ = add_head(program_, cut_);
  return *head_;
}

const EdgeBlocks& StageBlocks::prediction(const ChunkPlace& at) {
  const LayerRun run{workload::prediction_kind(*cut_.model), 1, prediction_repeat(cut_, at.stage)};
  const LayerKey key = layer_key(at, run, 0);
  const auto [found, added] = predictions_.try_emplace(key);
  if (added) found->second = add_prediction(program_, cut_, at.stage, {embedding(), layer(at, run), head()});
  return found->second;
}

void StageBlocks::write_predictions(Writer& writer, const ChunkPlace& at, program::BlockId EdgeBlocks::*part,
                                    bool announce) {
  for (std::int64_t i = cut_.predictions(at.stage, at.chunk); i > 0; --i) {
    writer.builder().call(prediction(at).*part);
    if (announce) writer.builder().signal(gradients_ready);
  }
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
  for (const LayerRun& run : runs(at)) call(layer(at, run).forward, run.layers);
  if (cut_.predictions(at.stage, at.chunk) > 0)
    call(prediction(at).forward, static_cast<std::uint32_t>(cut_.predictions(at.stage, at.chunk)));
  if (has_head(at)) call(head().forward, 1);
  found->second = writer.builder().done();
  return found->second;
}

program::BlockId StageBlocks::backward(const ChunkPlace& at, bool announce) {
  const auto [found, added] = backward_.try_emplace(key(at, announce));
  if (!added) return found->second;
  Writer writer(program_, cut_, announce ? "chunk backward, gradients complete" : "chunk backward");
  if (has_head(at)) writer.builder().call(head().backward);
  write_predictions(writer, at, &EdgeBlocks::backward, announce);
  write_backward(writer, at, &LayerBlocks::backward, announce);
  if (has_embedding(at)) writer.builder().call(embedding().backward);
  found->second = writer.builder().done();
  return found->second;
}

program::BlockId StageBlocks::backward_beside(const ChunkPlace& at) {
  const auto [found, added] = beside_.try_emplace(key(at, false));
  if (!added) return found->second;
  Writer writer(program_, cut_, "chunk backward beside a forward pass");
  if (has_head(at)) writer.builder().call(head().backward_beside);
  write_predictions(writer, at, &EdgeBlocks::backward_beside, false);
  write_backward(writer, at, &LayerBlocks::backward_beside, false);
  if (has_embedding(at)) writer.builder().call(embedding().backward_beside);
  found->second = writer.builder().done();
  return found->second;
}

void StageBlocks::write_backward(Writer& writer, const ChunkPlace& at, program::BlockId LayerBlocks::*part,
                                 bool announce) {
  const bool is_first = part != &LayerBlocks::weight_gradient;  // of what a backward pass does
  const auto again = part == &LayerBlocks::backward_beside ? &LayerBlocks::again_beside : &LayerBlocks::again;
  for_each_backward(at, [&](const LayerRun& run, bool is_again) {
    if (is_again && !is_first) return;
    const program::BlockId once = layer(at, run).*(is_again ? again : part);
    if (!announce || is_again) return static_cast<void>(writer.builder().call(once, run.layers));
    for (std::uint32_t i = 0; i < run.layers; ++i) writer.builder().call(once).signal(gradients_ready);
  });
}

void StageBlocks::for_each_backward(const ChunkPlace& at, const std::function<void(const LayerRun&, bool)>& act) const {
  const std::vector<LayerRun> layers = runs(at);
  for (auto run = layers.rbegin(); run != layers.rend(); ++run) {
    if (is_last_of_group(layers, run)) {
      auto first = run;
      while (first->repeat == Repeat::group_next) ++first;
      for (auto again = first.base() - 1; again != run.base(); ++again) act(*again, true);
    }
    act(*run, false);
  }
}

program::BlockId StageBlocks::input_gradient(const ChunkPlace& at) {
  const auto [found, added] = input_gradient_.try_emplace(key(at, false));
  if (!added) return found->second;
  Writer writer(program_, cut_, "chunk input gradients");
  if (has_head(at)) writer.builder().call(head().input_gradient);
  write_predictions(writer, at, &EdgeBlocks::input_gradient, false);
  write_backward(writer, at, &LayerBlocks::input_gradient, false);
  if (has_embedding(at)) writer.builder().call(embedding().backward);
  found->second = writer.builder().done();
  return found->second;
}

program::BlockId StageBlocks::weight_gradient(const ChunkPlace& at, bool announce) {
  const auto [found, added] = weight_gradient_.try_emplace(key(at, announce));
  if (!added) return found->second;
  Writer writer(program_, cut_, announce ? "chunk weight gradients, complete" : "chunk weight gradients");
  if (has_head(at)) writer.builder().call(head().weight_gradient);
  write_predictions(writer, at, &EdgeBlocks::weight_gradient, announce);
  write_backward(writer, at, &LayerBlocks::weight_gradient, announce);
  found->second = writer.builder().done();
  return found->second;
}

program::BlockId StageBlocks::generation_step(std::uint32_t stage, std::uint32_t expert_rank, std::int64_t keys) {
  const ChunkPlace at{stage, 0, expert_rank};
  Writer writer(program_, cut_, "generation step");
  if (has_embedding(at)) writer.builder().call(embedding().forward);
  for (const LayerRun& run : runs(at)) writer.builder().call(layer(at, run, keys).forward, run.layers);
  if (has_head(at)) writer.builder().call(head().forward);
  return writer.builder().done();
}

}  // namespace tessera::strategy::megatron
