#include "device_code.hpp"

#include <algorithm>

#include "../cuts/work.hpp"
#include "tessera/program/held_state.hpp"
#include "tessera/program/stage_passes.hpp"

namespace tessera::strategy::primepar {

using program::Activity;
using program::BlockId;
using program::MemoryCategory;

DeviceCode::DeviceCode(program::Program& program, const CutGraph& cut, const Reductions& reductions,
                       const StagePlace& stage, int device)
    : program_(program), cut_(cut), stage_(stage), device_(device), code_(cut, reductions, stage, device) {}

template <class Write>
DeviceCode::ByKind DeviceCode::each_kind(const Write& write) {
  ByKind found;
  for (const CutLayer& kind : cut_.kinds) {
    layer_ = &kind;
    code_.enter(kind);
    found.push_back(write());
  }
  return found;
}

void DeviceCode::write() {
  std::int64_t held = 0;
  for (const std::size_t kind : cut_.layers) {
    layer_ = &cut_.kinds[kind];
    held += parameters();
  }
  Builder main(program_, "main");
  program::allocate(main, {.weights = Bytes{held}, .gradients = Bytes{held}});
  write_passes(main);
  ByKind sums;
  if (code_.summed() != OperatorCode::Summed::at_once) sums = each_kind([&] { return gradient_sums(); });
  if (code_.summed() == OperatorCode::Summed::at_the_end) call_by_layer(main, sums);
  program::DeviceProgram& bound = program_.devices[code_.of_machine(device_)];
  if (code_.summed() == OperatorCode::Summed::beside) {
    main.activity(Activity::data_communication).label("gradients").wait(OperatorCode::is_summed);
    bound.streams = {main.done(), stream_beside(sums)};
    bound.events = 2;
  } else {
    bound.streams = {main.done()};
  }
  code_.bind(bound);
}

void DeviceCode::write_passes(Builder& builder) {
  program::StagePasses passes;
  passes.forward = [this](std::uint32_t, bool) { return forward_pass(); };
  passes.backward = [this](std::uint32_t, bool is_last) { return backward_pass(is_last); };
  passes.exchange = [this](Builder& into, const program::PipelineAction& action) { exchange(into, action); };
  program::write_passes(program_, builder, *stage_.schedule, passes);
}

BlockId DeviceCode::forward_pass() {
  const ByKind layers = each_kind([&] { return forward_layer(); });
  Builder builder(program_, "forward");
  if (stage_.has_previous) redistribute_input(builder, true);
  pass(builder, "next layer forward", layers, true);
  return builder.done();
}

BlockId DeviceCode::backward_pass(bool is_last) {
  const ByKind layers = each_kind([&] { return backward_layer(is_last); });
  Builder builder(program_, is_last ? "last backward" : "backward");
  pass(builder, "next layer backward", layers, false);
  if (stage_.has_previous) redistribute_input(builder, false);
  return builder.done();
}

void DeviceCode::redistribute_input(Builder& builder, bool is_forward) {
  for (const CutEdge& edge : cut_.between.at({cut_.layers.back(), cut_.layers.front()}))
    code_.redistribute(builder, edge, is_forward);
}

void DeviceCode::exchange(Builder& builder, const program::PipelineAction& action) {
  const Slices& last = cut_.kinds[cut_.layers.back()].nodes.back().slices;
  program::StageNeighbours neighbours;
  neighbours.peer = [this](int stages_on) { return code_.peer(device_, stages_on); };
  neighbours.activations = Bytes{cut_.graph->element * elements(last, handed_on(last), device_)};
  neighbours.gradients = Bytes{cut_.graph->element * elements(last, handed_back, device_)};
  neighbours.activations_channel = OperatorCode::activations;
  neighbours.gradients_channel = OperatorCode::gradients;
  program::write_exchange(builder, action, neighbours);
}

/// The first layer, then the others, each behind what is redistributed to it. Equal ones in a row are one call.
void DeviceCode::pass(Builder& builder, const std::string& name, const ByKind& kinds, bool is_forward) {
  std::vector<std::size_t> order = cut_.layers;
  if (!is_forward) std::reverse(order.begin(), order.end());
  std::map<std::pair<std::size_t, std::size_t>, BlockId> next;
  builder.call(kinds[order.front()]);
  for (std::size_t layer = 1, count = 1; layer < order.size(); layer += count) {
    const std::pair both(order[layer - 1], order[layer]);
    for (count = 1; layer + count < order.size() && both == std::pair(order[layer + count - 1], order[layer + count]);)
      ++count;
    if (next.count(both) == 0) {
      Builder joined(program_, name);
      for (const CutEdge& edge : cut_.between.at(is_forward ? both : std::pair(both.second, both.first)))
        code_.redistribute(joined, edge, is_forward);
      next[both] = joined.call(kinds[both.second]).done();
    }
    builder.call(next[both], static_cast<std::uint32_t>(count));
  }
}

BlockId DeviceCode::forward_layer() {
  Builder builder(program_, "layer forward");
  if (stage_.recomputes) builder.allocate(MemoryCategory::activations, Bytes{checkpoint()});
  for (std::size_t i = 0; i < layer_->nodes.size(); ++i)
    code_.forward(builder, i, stage_.recomputes ? 0 : code_.kept(i), Activity::forward);
  return builder.done();
}

BlockId DeviceCode::forward_again() {
  Builder builder(program_, "layer forward again");
  for (std::size_t i = 0; i < layer_->nodes.size(); ++i)
    code_.forward(builder, i, code_.kept(i) - own_checkpoint(i), Activity::recomputation);
  return builder.done();
}

BlockId DeviceCode::backward_layer(bool is_last) {
  Builder builder(program_, "layer backward");
  std::int64_t left = 0;
  if (stage_.recomputes) {
    left = checkpoint();
    for (std::size_t i = 0; i < layer_->nodes.size(); ++i) left -= own_checkpoint(i);
    builder.call(forward_again());
  }
  for (std::size_t i = layer_->nodes.size(); i-- > 0;) code_.backward(builder, i, is_last);
  return builder.release(MemoryCategory::activations, Bytes{left}).done();
}

BlockId DeviceCode::gradient_sums() {
  Builder builder(program_, "layer gradients");
  for (std::size_t i = layer_->nodes.size(); i-- > 0;) {
    if (code_.sums_gradients(i)) code_.sum_gradient(builder, i);
  }
  return builder.done();
}

void DeviceCode::call_by_layer(Builder& builder, const ByKind& kinds) {
  for (std::size_t left = cut_.layers.size(), count = 1; left > 0; left -= count) {
    const std::size_t kind = cut_.layers[left - 1];
    for (count = 1; count < left && cut_.layers[left - 1 - count] == kind;) ++count;
    builder.call(kinds[kind], static_cast<std::uint32_t>(count));
  }
}

BlockId DeviceCode::stream_beside(const ByKind& sums) {
  Builder builder(program_, "gradients");
  call_by_layer(builder, sums);
  return builder.signal(OperatorCode::is_summed).done();
}

std::int64_t DeviceCode::parameters() const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < layer_->nodes.size(); ++i)
    sum += parameter_bytes(node(i), slices(i), device_, cut_.graph->element);
  return sum;
}

std::int64_t DeviceCode::own_checkpoint(std::size_t i) const {
  const bool is_own = node(i).keeps_input && cut_.graph->reads_input(i);
  return is_own ? input_bytes(slices(i), device_, cut_.graph->element) : 0;
}

std::int64_t DeviceCode::checkpoint() const {
  const std::vector<const Edge*> edges = cut_.graph->edges_from_before();
  if (edges.empty()) return own_checkpoint(0);
  std::map<Region, std::int64_t> layouts;
  for (const Edge* edge : edges) {
    const Slices& reader = slices(static_cast<std::size_t>(edge->to));
    layouts[region(reader, edge->shared.read, device_, Phase::forward, 0)] =
        input_bytes(reader, device_, cut_.graph->element);
  }
  std::int64_t sum = 0;
  for (const auto& [layout, bytes] : layouts) sum += bytes;
  return sum;
}

}  // namespace tessera::strategy::primepar
