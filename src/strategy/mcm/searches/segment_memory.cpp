#include "segment_memory.hpp"

#include <algorithm>

namespace tessera::strategy::mcm {
namespace {

constexpr std::size_t not_made_here = ~std::size_t{0};
constexpr std::int64_t buffers = 2;  // of what comes in and of what goes out

}  // namespace

SegmentMemory::SegmentMemory(const Package& package, const std::vector<NodeId>& order)
    : package_(package),
      order_(order),
      last_read_(package.uses.size(), 0),
      seen_(package.uses.size(), 0),
      place_made_(package.uses.size(), not_made_here),
      leaving_at_(order.size()) {
  std::vector<std::size_t> place(package.reduced.problem.nodes);
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  for (workload::TensorId tensor = 0; tensor < package.uses.size(); ++tensor) {
    const TensorUse& use = package.uses[tensor];
    if (use.maker != TensorUse::no_node && package.reduced.solved_as[use.maker])
      place_made_[tensor] = place[*package.reduced.solved_as[use.maker]];
    for (const workload::GraphNodeId reader : use.readers) {
      if (const auto& solved = package.reduced.solved_as[reader])
        last_read_[tensor] = std::max(last_read_[tensor], place[*solved]);
    }
    if (place_made_[tensor] != not_made_here && !use.readers.empty()) leaving_at_[last_read_[tensor]].push_back(tensor);
  }
}

void SegmentMemory::begin(std::size_t place) {
  begin_ = place;
  ++segment_;
  weights_ = received_ = open_ = 0;
}

std::int64_t SegmentMemory::after_adding(std::size_t place) {
  const workload::GraphNode& node = package_.graph.nodes[package_.reduced.node_of[order_[place]]];
  for (const workload::TensorId tensor : node.reads) {
    if (seen_[tensor] == segment_) continue;
    const std::int64_t bytes = package_.graph.tensors[tensor].bytes;
    const workload::TensorKind kind = package_.graph.tensors[tensor].kind;
    if (kind == workload::TensorKind::parameter || kind == workload::TensorKind::constant) weights_ += bytes;
    if (place_made_[tensor] != not_made_here && place_made_[tensor] < begin_) received_ += bytes;
    seen_[tensor] = segment_;
  }
  for (const workload::TensorId tensor : node.writes) {
    seen_[tensor] = segment_;
    if (last_read_[tensor] > place) open_ += package_.graph.tensors[tensor].bytes;
  }
  for (const workload::TensorId tensor : leaving_at_[place]) {
    if (place_made_[tensor] >= begin_ && place_made_[tensor] < place) open_ -= package_.graph.tensors[tensor].bytes;
  }
  return weights_ + buffers * (received_ + open_);
}

}  // namespace tessera::strategy::mcm
