#include "combined_passes.hpp"

#include <algorithm>
#include <iterator>

#include "expert_dispatch.hpp"
#include "tessera/program/stage_passes.hpp"

namespace tessera::strategy::megatron {
namespace {

using program::PipelineAction;

/// Layers one by one, and where a run of the same ones ends.
std::vector<LayerRun> one_by_one(const std::vector<LayerRun>& runs) {
  std::vector<LayerRun> layers;
  for (LayerRun run : runs) {
    const std::uint32_t count = run.layers;
    run.layers = 1;
    layers.insert(layers.end(), count, run);
  }
  return layers;
}

/// The inverse, of layers that are left behind those of `from`.
std::vector<LayerRun> in_runs(const std::vector<LayerRun>& layers, std::size_t from) {
  std::vector<LayerRun> runs;
  for (std::size_t i = from; i < layers.size(); ++i) {
    LayerRun one = layers[i];
    if (!runs.empty()) one.layers = runs.back().layers;
    if (!runs.empty() && runs.back() == one)
      ++runs.back().layers;
    else
      runs.push_back(layers[i]);
  }
  return runs;
}

/// What waits on the main stream for the other one.
struct Awaited {
  program::BlockBuilder& main;
  bool travels;  ///< or nothing is on its way

  void go() const {
    if (travels) main.signal(exchange_go);
  }
  void done(const char* label) const {
    if (travels) main.label(label).activity(Activity::expert_communication).wait(exchange_done);
  }
};

}  // namespace

CombinedPasses::Layers CombinedPasses::layers(const ChunkPlace& forward, const ChunkPlace& backward) const {
  const std::vector<LayerRun> there = one_by_one(blocks_.runs(forward));
  std::vector<LayerRun> back = one_by_one(blocks_.runs(backward));
  std::ranges::reverse(back);
  const std::size_t both = std::min(there.size(), back.size());
  Layers found;
  for (std::size_t i = 0; i < both; ++i) {
    const bool is_same = i > 0 && found.pairs.back().forward == there[i] && found.pairs.back().backward == back[i];
    if (!is_same) found.pairs.push_back({there[i], back[i], 0});
    ++found.pairs.back().times;
  }
  found.forward = in_runs(there, both);
  found.backward = in_runs(back, both);
  return found;
}

program::BlockId CombinedPasses::main(const ChunkPlace& forward, const ChunkPlace& backward) {
  const auto [found, is_new] = main_.try_emplace({forward.chunk, backward.chunk});
  if (is_new) found->second = write_main(forward, backward);
  return found->second;
}

program::BlockId CombinedPasses::exchanges(const ChunkPlace& forward, const ChunkPlace& backward) {
  const auto [found, is_new] = exchanges_.try_emplace({forward.chunk, backward.chunk});
  if (is_new) found->second = write_exchanges(forward, backward);
  return found->second;
}

program::BlockId CombinedPasses::write_main(const ChunkPlace& forward, const ChunkPlace& backward) {
  program::BlockBuilder builder(program_, "chunk forward beside a backward pass");
  if (blocks_.has_embedding(forward)) builder.call(blocks_.embedding().forward);
  if (blocks_.has_head(backward)) builder.call(blocks_.head().backward);
  const Layers all = layers(forward, backward);
  for (const Pair& of : all.pairs) builder.call(pair(forward, backward, of), of.times);
  for (const LayerRun& run : all.backward) builder.call(blocks_.layer(backward, run).backward, run.layers);
  for (const LayerRun& run : all.forward) builder.call(blocks_.layer(forward, run).forward, run.layers);
  if (blocks_.has_head(forward)) builder.call(blocks_.head().forward);
  if (blocks_.has_embedding(backward)) builder.call(blocks_.embedding().backward);
  return builder.done();
}

program::BlockId CombinedPasses::pair(const ChunkPlace& forward, const ChunkPlace& backward, const Pair& of) {
  const LayerPieces& there = blocks_.pieces(forward, of.forward);
  const LayerPieces& back = blocks_.pieces(backward, of.backward);
  program::BlockBuilder builder(program_, "layer forward beside a backward pass");
  const Awaited to{builder, travels(of.forward)}, from{builder, travels(of.backward)};
  builder.call(back.backward[0]);
  from.go();
  builder.call(there.forward[0]);
  to.go();
  from.done("expert combine");
  builder.call(back.backward[1]);
  from.go();
  if (from.travels && blocks_.cut().options.delay_weight_gradients) builder.call(back.weight_gradient);
  to.done("expert dispatch");
  builder.call(there.forward[1]);
  to.go();
  from.done("expert dispatch");
  builder.call(back.backward[2]);
  to.done("expert combine");
  return builder.call(there.forward[2]).done();
}

program::BlockId CombinedPasses::pair_exchanges(const Pair& of) const {
  const Cut& cut = blocks_.cut();
  Writer writer(program_, cut, "all-to-alls beside a layer forward and one backward");
  writer.beside_main();
  const auto exchange = [&](const LayerRun& run, const char* label, const auto& send) {
    if (!travels(run)) return;
    writer.builder().label("").activity(Activity::other_communication).wait(exchange_go);
    send(writer, cut.kind(run.kind), label);
    writer.builder().signal(exchange_done);
  };
  exchange(of.backward, "expert combine", send_to_experts);
  exchange(of.forward, "expert dispatch", send_to_experts);
  exchange(of.backward, "expert dispatch", send_from_experts);
  exchange(of.forward, "expert combine", send_from_experts);
  return writer.builder().done();
}

program::BlockId CombinedPasses::write_exchanges(const ChunkPlace& forward, const ChunkPlace& backward) const {
  program::BlockBuilder builder(program_, "all-to-alls beside passes");
  for (const Pair& of : layers(forward, backward).pairs)
    if (travels(of.forward) || travels(of.backward)) builder.call(pair_exchanges(of), of.times);
  return builder.done();
}

program::BlockId exchange_stream(program::Program& program, StageBlocks& blocks, std::uint32_t stage,
                                 const std::vector<PipelineAction>& actions) {
  std::vector<PipelineAction> all;
  std::ranges::copy_if(actions, std::back_inserter(all),
                       [](const auto& action) { return action.kind == PipelineAction::Kind::both; });
  CombinedPasses combined(program, blocks);
  program::StagePasses passes;
  passes.both = [&](program::BlockBuilder& into, const PipelineAction& action) {
    into.call(combined.exchanges({stage, action.chunk, 0}, {stage, action.backward_chunk, 0}));
  };
  program::BlockBuilder builder(program, "all-to-alls beside passes");
  program::write_passes(program, builder, program::fold(all), passes);
  return builder.done();
}

}  // namespace tessera::strategy::megatron
