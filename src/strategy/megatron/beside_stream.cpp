#include "beside_stream.hpp"

#include <map>

#include "beside_count.hpp"
#include "prediction_blocks.hpp"
#include "tessera/program/stage_passes.hpp"
#include "vision_blocks.hpp"

namespace tessera::strategy::megatron {
namespace {

constexpr const char* stream_name = "tensor communication beside weight gradients";

class BesideStream {
 public:
  BesideStream(program::Program& program, const Cut& cut, const StageBlocks& blocks, const StagePasses& of)
      : program_(program), cut_(cut), blocks_(blocks), of_(of) {
    for (std::uint32_t chunk = 0; chunk < cut.options.interleave; ++chunk) count(chunk);
  }

  /// Every use is alike, so that it does not matter whose turn it is.
  [[nodiscard]] bool is_even() const { return uses_.size() <= 1 && !has_vision_; }

  program::BlockId even() {
    program::BlockBuilder builder(program_, stream_name);
    if (uses_.empty()) return builder.done();
    const auto [widths, uses] = *uses_.begin();
    const std::uint32_t all = beside_count(uses, of_.passes);
    // Passes are alike where there is one chunk, and where they do not go layer by layer.
    if (cut_.options.interleave > 1 || cut_.options.streams_weights()) return builder.call(once(widths), all).done();
    const program::BlockId pass = program::BlockBuilder(program_, "pass").call(once(widths), all / of_.passes).done();
    return builder.call(pass, of_.passes, program::backward_pass(0)).done();
  }

  program::BlockId pass_by_pass(const std::vector<program::PipelineAction>& actions) {
    std::vector<program::BlockId> passes;
    for (std::uint32_t chunk = 0; chunk < cut_.options.interleave; ++chunk) passes.push_back(pass(chunk, 1));
    program::BlockBuilder builder(program_, stream_name);
    if (cut_.options.interleave == 1) return builder.call(passes[0], of_.passes, program::backward_pass(0)).done();
    for (const program::PipelineAction& action : actions)
      if (action.kind == program::PipelineAction::Kind::backward)
        builder.call(passes[action.chunk]);
      else if (action.kind == program::PipelineAction::Kind::both)
        builder.call(passes[action.backward_chunk]);
    return builder.done();
  }

  program::BlockId layer_by_layer() { return pass(0, of_.passes); }

 private:
  [[nodiscard]] std::vector<LayerRun> runs(std::uint32_t chunk) const { return blocks_.runs({of_.stage, chunk, 0}); }
  /// Without a vocabulary a head moves nothing.
  [[nodiscard]] bool has_logits(std::uint32_t chunk) const {
    return cut_.model->vocabulary > 0 && blocks_.has_head({of_.stage, chunk, 0});
  }

  void count(std::uint32_t chunk) {
    for (const LayerRun& run : runs(chunk))
      for (const BesideWidths& widths : beside_widths(cut_, run.kind)) uses_[widths] += run.layers;
    if (has_logits(chunk)) ++uses_[head_widths(cut_)];
    for (const BesideWidths& widths : of_predictions(chunk)) ++uses_[widths];
    has_vision_ = has_vision_ || has_vision(chunk);
  }
  /// The last of a backward pass.
  [[nodiscard]] bool has_vision(std::uint32_t chunk) const {
    return runs_vision(cut_) && cut_.has_embedding(of_.stage, chunk);
  }
  /// In the order of the backward pass.
  [[nodiscard]] std::vector<BesideWidths> of_predictions(std::uint32_t chunk) const {
    std::vector<BesideWidths> all;
    for (std::int64_t i = cut_.predictions(of_.stage, chunk); i > 0; --i)
      for (const BesideWidths& widths : prediction_widths(cut_)) all.push_back(widths);
    return all;
  }

  program::BlockId once(const BesideWidths& widths) {
    const auto [found, is_new] = once_.try_emplace(widths);
    if (is_new) found->second = beside_block(program_, cut_, widths);
    return found->second;
  }

  /// The backward pass of a chunk, each layer of it `times` before the next one.
  program::BlockId pass(std::uint32_t chunk, std::uint32_t times) {
    program::BlockBuilder builder(program_, "pass");
    if (has_logits(chunk)) builder.call(once(head_widths(cut_)), times);
    for (const BesideWidths& widths : of_predictions(chunk)) builder.call(once(widths), times);
    const std::vector<LayerRun> layers = runs(chunk);
    for (auto run = layers.rbegin(); run != layers.rend(); ++run) {
      program::BlockBuilder layer(program_, "layer");
      for (const BesideWidths& widths : beside_widths(cut_, run->kind)) layer.call(once(widths));
      builder.call(layer.done(), beside_count(run->layers, times));
    }
    if (has_vision(chunk)) builder.call(vision_beside(program_, cut_), times);
    return builder.done();
  }

  program::Program& program_;
  const Cut& cut_;
  const StageBlocks& blocks_;
  const StagePasses& of_;
  std::map<BesideWidths, std::int64_t> uses_;  // of all chunks once
  std::map<BesideWidths, program::BlockId> once_;
  bool has_vision_ = false;
};

}  // namespace

program::BlockId beside_stream(program::Program& program, const Cut& cut, const StageBlocks& blocks,
                               const StagePasses& of, const std::vector<program::PipelineAction>& actions) {
  BesideStream stream(program, cut, blocks, of);
  if (stream.is_even()) return stream.even();
  return cut.options.streams_weights() ? stream.layer_by_layer() : stream.pass_by_pass(actions);
}

}  // namespace tessera::strategy::megatron
