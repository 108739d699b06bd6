#include "shared_stream.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "experts.hpp"
#include "tessera/program/stage_passes.hpp"

namespace tessera::strategy::megatron {
namespace {

using program::PipelineAction;

/// What the stream does in one layer.
struct SharedBlocks {
  program::BlockId forward = 0, again = 0;
  program::BlockId backward = 0, input_gradient = 0;
};

class SharedStream {
 public:
  SharedStream(program::Program& program, const StageBlocks& blocks, std::uint32_t stage)
      : program_(program), blocks_(blocks), cut_(blocks.cut()), stage_(stage) {}

  program::BlockId write(const std::vector<PipelineAction>& actions) {
    std::vector<PipelineAction> passes;
    std::ranges::copy_if(actions, std::back_inserter(passes), [](const auto& action) {
      using enum PipelineAction::Kind;
      return action.kind == forward || action.kind == backward || action.kind == input_gradient;
    });
    // Of loans and weight gradients, which are not here, the passes know nothing: those that differ there are alike.
    for (PipelineAction& action : passes) action = {action.kind, action.chunk};
    program::StagePasses of;
    of.forward = [&](std::uint32_t chunk, bool) { return forward(chunk); };
    of.backward = [&](std::uint32_t chunk, bool) { return backward(chunk, &SharedBlocks::backward); };
    of.input_gradient = [&](std::uint32_t chunk) { return backward(chunk, &SharedBlocks::input_gradient); };
    program::BlockBuilder builder(program_, "shared experts beside the others");
    program::write_passes(program_, builder, program::fold(passes), of);
    return builder.done();
  }

 private:
  [[nodiscard]] ChunkPlace place(std::uint32_t chunk) const { return {stage_, chunk, 0}; }
  [[nodiscard]] std::int64_t predictions(std::uint32_t chunk) const { return cut_.predictions(stage_, chunk); }
  [[nodiscard]] LayerRun prediction(std::uint32_t chunk) const {
    return {workload::prediction_kind(*cut_.model), static_cast<std::uint32_t>(predictions(chunk)),
            prediction_repeat(cut_, stage_)};
  }

  program::BlockId forward(std::uint32_t chunk) {
    program::BlockBuilder builder(program_, "shared experts forward");
    const auto call = [&](const LayerRun& run) {
      if (cut_.runs_shared_beside(run.kind)) builder.call(layer(run.kind).forward, run.layers);
    };
    for (const LayerRun& run : blocks_.runs(place(chunk))) call(run);
    if (predictions(chunk) > 0) call(prediction(chunk));
    return builder.done();
  }

  program::BlockId backward(std::uint32_t chunk, program::BlockId SharedBlocks::*part) {
    program::BlockBuilder builder(program_, "shared experts backward");
    const auto act = [&](const LayerRun& run, bool is_again) {
      if (!cut_.runs_shared_beside(run.kind)) return;
      const SharedBlocks& of = layer(run.kind);
      if (is_again) return static_cast<void>(builder.call(of.again, run.layers));
      if (!runs_again(run)) return static_cast<void>(builder.call(of.*part, run.layers));
      program::BlockBuilder both(program_, "shared experts again and backward");
      builder.call(both.call(of.again).call(of.*part).done(), run.layers);
    };
    if (predictions(chunk) > 0) act(prediction(chunk), false);
    blocks_.for_each_backward(place(chunk), act);
    return builder.done();
  }

  /// By itself, just before its backward pass.
  [[nodiscard]] bool runs_again(const LayerRun& run) const {
    return run.repeat == Repeat::own &&
           cut_.repeated(stage_, run.repeat).again[workload::place_of(&workload::LayerOperators::router)];
  }

  /// Their tokens are those of the rank, whatever its other experts are given.
  const SharedBlocks& layer(std::uint32_t kind) {
    const auto [found, is_new] = layers_.try_emplace(kind);
    if (!is_new) return found->second;
    const workload::SharedExperts shared = workload::apart_experts(*cut_.model, cut_.layer_shape(kind, 0)).shared;
    const auto block = [&](const char* what, const auto& write) {
      Writer writer(program_, cut_, workload::kind_name(*cut_.model, kind) + what);
      writer.for_shared_experts();
      write(writer);
      return writer.builder().done();
    };
    SharedBlocks& blocks = found->second;
    blocks.forward = block(" shared forward", [&](Writer& w) { shared_forward(w, shared, Activity::forward); });
    if (!cut_.training()) return blocks;
    blocks.again = block(" shared again", [&](Writer& w) { shared_forward(w, shared, Activity::recomputation); });
    blocks.backward = block(" shared backward", [&](Writer& w) { shared_backward(w, shared); });
    blocks.input_gradient = block(" shared input gradient", [&](Writer& w) { shared_input_gradient(w, shared); });
    return blocks;
  }

  program::Program& program_;
  const StageBlocks& blocks_;
  const Cut& cut_;
  std::uint32_t stage_;
  std::map<std::uint32_t, SharedBlocks> layers_;  // by kind
};

}  // namespace

bool has_shared_experts_beside(const StageBlocks& blocks, std::uint32_t stage) {
  const Cut& cut = blocks.cut();
  for (std::uint32_t chunk = 0; chunk < cut.chunks(); ++chunk) {
    for (const LayerRun& run : blocks.runs({stage, chunk, 0}))
      if (cut.runs_shared_beside(run.kind)) return true;
    if (cut.predictions(stage, chunk) > 0 && cut.runs_shared_beside(workload::prediction_kind(*cut.model))) return true;
  }
  return false;
}

program::BlockId shared_stream(program::Program& program, const StageBlocks& blocks, std::uint32_t stage,
                               const std::vector<PipelineAction>& actions) {
  return SharedStream(program, blocks, stage).write(actions);
}

}  // namespace tessera::strategy::megatron
