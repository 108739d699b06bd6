// Zero-bubble schedules (Qi et al. 2023, "Zero Bubble Pipeline Parallelism", arXiv 2401.10241, section 2): the backward
// pass in two parts, of which the gradients of inputs (B) alone are waited for by the stage before. Gradients of
// weights (W) run where a stage would wait otherwise.
//
//   zb-h1   stage i of p starts with p-i forward passes, as 1F1B does, and runs the first W behind its (i+1)st B: so no
//           stage has more than p micro-batches under way, and B, which others wait for, comes first (section 2.1)
//   zb-h2   2(p-i)-1 forward passes fill the time before the first B, and W starts behind the (2i+1)st one: with 2p-1
//           micro-batches under way no stage waits from its first to its last pass (section 2.2)
#include <algorithm>

#include "orders.hpp"

namespace tessera::program {
namespace {

/// What the two have in common: `stages_ahead` is 1 or 2 micro-batches that are under way for each stage.
std::vector<PipelineAction> zero_bubble_actions(const PipelineShape& shape, std::uint32_t stage,
                                                std::uint32_t stages_ahead) {
  const bool first = stage == 0, last = stage + 1 == shape.stages;
  const std::uint32_t all = shape.micro_batches;
  const std::uint32_t warm_up = shape.backward ? std::min(stages_ahead * (shape.stages - stage - 1), all) : all;
  const std::uint32_t weights_behind = stages_ahead * stage;
  ActionList list(shape);
  const auto forward = [&](bool receive_gradient) {
    list.post(false, !first, false, false);
    list.forward(0);
    list.post(!last, false, false, receive_gradient && !last);
  };
  for (std::uint32_t i = 0; i < warm_up; ++i) forward(false);
  if (!shape.backward) return list.take();
  for (std::uint32_t i = 0; i < all; ++i) {
    if (i + warm_up < all) {
      forward(true);
    } else {
      list.post(false, false, false, !last);
    }
    list.input_gradient(0);
    list.post(false, false, !first, false);
    if (i >= weights_behind) list.weight_gradient(0);
  }
  for (std::uint32_t i = 0; i < std::min(weights_behind, all); ++i) list.weight_gradient(0);
  return list.take();
}

std::string check_zero_bubble(const PipelineShape& shape) {
  return shape.chunks == 1 ? "" : "has one model chunk a stage: interleave = 1";
}

}  // namespace

PipelineOrder zb_h1_order() {
  return {"zb-h1", "weight gradients apart, later on later stages: memory of 1f1b, a third of its bubble",
          check_zero_bubble,
          [](const PipelineShape& shape, std::uint32_t stage) { return zero_bubble_actions(shape, stage, 1); }, true};
}

PipelineOrder zb_h2_order() {
  return {"zb-h2", "the same with up to 2 pipeline - 1 micro-batches under way, and no bubble between passes",
          check_zero_bubble,
          [](const PipelineShape& shape, std::uint32_t stage) { return zero_bubble_actions(shape, stage, 2); }, true};
}

}  // namespace tessera::program
