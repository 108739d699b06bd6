// GPipe (Huang et al. 2019): all forward passes, then all backward passes.
#include "orders.hpp"

namespace tessera::program {
namespace {

std::string check_gpipe(const PipelineShape& shape) {
  return shape.chunks == 1 ? "" : "has one model chunk a stage: interleave = 1";
}

std::vector<PipelineAction> gpipe_actions(const PipelineShape& shape, std::uint32_t stage) {
  const bool first = stage == 0;
  const bool last = stage + 1 == shape.stages;
  ActionList list(shape);
  for (std::uint32_t i = 0; i < shape.micro_batches; ++i) {
    list.exchange(false, !first, false, false);
    list.forward(0);
    list.exchange(!last, false, false, false);
  }
  for (std::uint32_t i = 0; shape.backward && i < shape.micro_batches; ++i) {
    list.exchange(false, false, false, !last);
    list.backward(0);
    list.exchange(false, false, !first, false);
  }
  return list.take();
}

}  // namespace

PipelineOrder gpipe_order() {
  return {"gpipe", "all forward passes, then all backward passes", check_gpipe, gpipe_actions};
}

}  // namespace tessera::program
