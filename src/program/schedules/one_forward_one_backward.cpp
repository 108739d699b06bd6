// 1F1B, or PipeDream-Flush (Narayanan et al. 2021, "Efficient large-scale language model training on GPU clusters using
// Megatron-LM", section 2.2.1): stage i of p starts with p-i-1 forward passes, then runs one forward and one backward
// pass in turn, so that it never holds the activations of more than p-i micro-batches.
#include <algorithm>

#include "orders.hpp"

namespace tessera::program {
namespace {

std::string check_one_forward_one_backward(const PipelineShape& shape) {
  return shape.chunks == 1 ? "" : "has one model chunk a stage; interleave > 1 needs \"interleaved-1f1b\"";
}

std::vector<PipelineAction> one_forward_one_backward_actions(const PipelineShape& shape, std::uint32_t stage) {
  const bool first = stage == 0;
  const bool last = stage + 1 == shape.stages;
  const std::uint32_t warm_up =
      shape.backward ? std::min(shape.stages - stage - 1, shape.micro_batches) : shape.micro_batches;
  const std::uint32_t steady = shape.micro_batches - warm_up;
  ActionList list(shape);
  for (std::uint32_t i = 0; i < warm_up; ++i) {
    list.exchange(false, !first, false, false);
    list.forward(0);
    list.exchange(!last, false, false, false);
  }
  if (!shape.backward) return list.take();
  if (steady > 0) list.exchange(false, !first, false, false);
  for (std::uint32_t i = 0; i < steady; ++i) {
    list.forward(0);
    list.exchange(!last, false, false, !last);
    list.backward(0);
    list.exchange(false, !first && i + 1 < steady, !first, false);
  }
  for (std::uint32_t i = 0; i < warm_up; ++i) {
    list.exchange(false, false, false, !last);
    list.backward(0);
    list.exchange(false, false, !first, false);
  }
  return list.take();
}

}  // namespace

PipelineOrder one_forward_one_backward_order() {
  return {"1f1b", "one forward and one backward pass in turn", check_one_forward_one_backward,
          one_forward_one_backward_actions};
}

}  // namespace tessera::program
