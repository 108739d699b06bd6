// Interleaved 1F1B (Narayanan et al. 2021, section 2.2.2), in the order of Megatron-LM of 2022
// (megatron/schedules.py, forward_backward_pipelining_with_interleaving), whose names the comments give. And combined,
// as Megatron Core has it with overlap_moe_expert_parallel_comm (core/pipeline_parallel/combined_1f1b.py): with one
// more forward pass at first, each other one is of another micro-batch than the backward pass behind it, and runs
// beside it. Without stages likewise.
#include <algorithm>

#include "orders.hpp"

namespace tessera::program {
namespace {

std::string check_interleaved(const PipelineShape& shape) {
  if (shape.stages == 1) return "needs pipeline > 1";
  if (shape.micro_batches % shape.stages != 0) {
    return "needs a number of micro-batches that is a multiple of the " + std::to_string(shape.stages) +
           " stages, not " + std::to_string(shape.micro_batches);
  }
  return {};
}

std::string check_combined(const PipelineShape& shape) {
  if (shape.stages > 1) return shape.chunks > 1 ? check_interleaved(shape) : "needs interleave > 1 with pipeline > 1";
  return shape.chunks == 1 ? "" : "needs pipeline > 1 for interleave > 1";
}

/// One stage of one pipeline; passes are numbered 0 .. micro_batches * chunks - 1 in the order in which they run.
struct Stage {
  PipelineShape shape;
  std::uint32_t index = 0;
  bool is_combined = false;

  [[nodiscard]] bool first() const { return index == 0; }
  [[nodiscard]] bool last() const { return index + 1 == shape.stages; }
  [[nodiscard]] std::uint32_t passes() const { return shape.micro_batches * shape.chunks; }
  /// get_model_chunk_id: p micro-batches go through chunk 0, then the same p through chunk 1, and so on.
  [[nodiscard]] std::uint32_t forward_chunk(std::uint32_t pass) const {
    return pass % (shape.stages * shape.chunks) / shape.stages;
  }
  [[nodiscard]] std::uint32_t backward_chunk(std::uint32_t pass) const {
    return shape.chunks - 1 - forward_chunk(pass);
  }
  [[nodiscard]] std::uint32_t last_chunk() const { return shape.chunks - 1; }
  /// num_warmup_microbatches. With as many micro-batches as stages nothing could run in turn: all forward passes first.
  [[nodiscard]] std::uint32_t warm_up() const {
    if (!shape.backward || shape.micro_batches == shape.stages) return passes();
    const std::uint32_t wanted = 2 * (shape.stages - index - 1) + (shape.chunks - 1) * shape.stages;
    return std::min(wanted + (is_combined ? 1 : 0), passes());
  }
  /// Whether the neighbours send something for the pass that comes `distance` passes later, given that the wrap-around
  /// from the last stage to the first one lags by p-1 passes.
  [[nodiscard]] bool forward_input_due(std::uint32_t pass) const { return !first() || forward_chunk(pass + 1) != 0; }
  [[nodiscard]] bool sends_forward(std::uint32_t chunk) const { return !(last() && chunk == last_chunk()); }
  [[nodiscard]] bool sends_backward(std::uint32_t chunk) const { return !(first() && chunk == 0); }
};

void add_warm_up(const Stage& stage, ActionList& list) {
  const std::uint32_t warm_up = stage.warm_up();
  const bool all = warm_up == stage.passes();
  list.exchange(false, !stage.first(), false, false);
  for (std::uint32_t k = 0; k < warm_up; ++k) {
    const std::uint32_t chunk = stage.forward_chunk(k);
    list.forward(chunk);
    const bool receive = k + 1 < stage.passes() && stage.forward_input_due(k);
    const bool gradient = k + 1 == warm_up && !all && !stage.last();
    list.exchange(stage.sends_forward(chunk), receive, false, gradient);
  }
}

void add_steady(const Stage& stage, ActionList& list) {
  const std::uint32_t warm_up = stage.warm_up();
  const std::uint32_t steady = stage.passes() - warm_up;
  const std::uint32_t behind = stage.shape.stages - 1;  // the last stage is p-1 passes behind the first one
  for (std::uint32_t k = 0; k < steady; ++k) {
    const std::uint32_t forward = stage.forward_chunk(k + warm_up);
    const std::uint32_t backward = stage.backward_chunk(k);
    if (stage.is_combined) {
      list.both(forward, backward);
    } else {
      list.forward(forward);
      list.backward(backward);
    }
    const bool end = k + 1 == steady;
    // What a neighbour at the other end of the ring sends now belongs to a pass that it numbers p-1 lower.
    const bool activation = !stage.first() || stage.forward_chunk(k + warm_up - behind) != stage.last_chunk();
    const std::uint32_t lag = stage.shape.stages * stage.shape.chunks;
    const bool gradient = !stage.last() || stage.backward_chunk(k + lag - behind) != 0;
    list.exchange(stage.sends_forward(forward), activation && !end, stage.sends_backward(backward), gradient);
  }
}

void add_cool_down(const Stage& stage, ActionList& list) {
  const std::uint32_t steady = stage.passes() - stage.warm_up();
  if (steady == 0) list.exchange(false, false, false, !stage.last());
  for (std::uint32_t k = steady; k < stage.passes(); ++k) {
    const std::uint32_t chunk = stage.backward_chunk(k);
    list.backward(chunk);
    const bool end = k + 1 == stage.passes();
    const bool gradient = !end && !(stage.last() && stage.backward_chunk(k + 1) == stage.last_chunk());
    list.exchange(false, false, stage.sends_backward(chunk), gradient);
  }
}

std::vector<PipelineAction> actions_of(const Stage& stage) {
  const PipelineShape& shape = stage.shape;
  ActionList list(shape);
  add_warm_up(stage, list);
  if (!shape.backward) return list.take();
  add_steady(stage, list);
  add_cool_down(stage, list);
  return list.take();
}

std::vector<PipelineAction> interleaved_actions(const PipelineShape& shape, std::uint32_t index) {
  return actions_of({shape, index});
}

std::vector<PipelineAction> combined_actions(const PipelineShape& shape, std::uint32_t index) {
  return actions_of({shape, index, true});
}

}  // namespace

PipelineOrder combined_order() {
  PipelineOrder order = {
      "combined-1f1b",
      "1F1B, interleaved in a pipeline, of experts: a forward pass layer by layer beside the backward "
      "pass of another micro-batch",
      check_combined, combined_actions};
  order.combines = true;
  return order;
}

PipelineOrder interleaved_order() {
  return {"interleaved-1f1b", "1F1B with several model chunks a stage, for a shorter bubble", check_interleaved,
          interleaved_actions};
}

}  // namespace tessera::program
