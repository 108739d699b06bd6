#include "node_schedule.hpp"

#include <algorithm>
#include <limits>

namespace tessera::strategy::mcm {
namespace {

/// Nodes that have run, and what is held.
class Liveness {
 public:
  explicit Liveness(const LocalGraph& graph) : graph_(graph) {
    for (const LocalGraph::Node& node : graph.nodes) missing_.push_back(node.sources);
    for (const LocalGraph::LocalTensor& tensor : graph.tensors) {
      readers_left_.push_back(tensor.readers);
      is_there_.push_back(false);
    }
  }
  [[nodiscard]] bool can_run(std::uint32_t node) const { return missing_[node] == 0; }

  /// What would be held more behind it.
  [[nodiscard]] std::int64_t growth(std::uint32_t node) const {
    const Turn turn = turn_of(node);
    return turn.allocates - turn.releases;
  }
  /// Nodes that can run now and could not before are appended to `ready`.
  Turn run(std::uint32_t node, std::vector<std::uint32_t>& ready) {
    const Turn turn = turn_of(node);
    for (const std::uint32_t tensor : graph_.nodes[node].reads) {
      is_there_[tensor] = true;
      --readers_left_[tensor];
    }
    for (const std::uint32_t tensor : graph_.nodes[node].writes) is_there_[tensor] = true;
    for (const std::uint32_t next : graph_.nodes[node].behind) {
      if (--missing_[next] == 0) ready.push_back(next);
    }
    return turn;
  }

 private:
  [[nodiscard]] Turn turn_of(std::uint32_t node) const {
    Turn turn{graph_.nodes[node].id};
    for (const std::uint32_t tensor : graph_.nodes[node].writes) {
      turn.allocates += graph_.tensors[tensor].bytes;
      if (graph_.tensors[tensor].readers == 0) turn.releases += graph_.tensors[tensor].bytes;  // the host takes it
    }
    for (const std::uint32_t tensor : graph_.nodes[node].reads) {
      const LocalGraph::LocalTensor& read = graph_.tensors[tensor];
      if (read.is_the_hosts && !is_there_[tensor]) turn.allocates += read.bytes;
      if (readers_left_[tensor] == 1) turn.releases += read.bytes;
    }
    return turn;
  }

  const LocalGraph& graph_;
  std::vector<std::uint32_t> missing_, readers_left_;
  std::vector<bool> is_there_;
};

/// Index into `ready` of the next one.
std::size_t next_of(const std::vector<std::uint32_t>& ready, const Liveness& live, NodeSchedule schedule) {
  std::size_t best = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < ready.size(); ++i) {
    const std::int64_t growth = schedule == NodeSchedule::least_memory ? live.growth(ready[i]) : 0;
    if (growth > least || (growth == least && ready[i] > ready[best])) continue;
    least = growth;
    best = i;
  }
  return best;
}

}  // namespace

std::vector<Turn> scheduled(const LocalGraph& graph, NodeSchedule schedule) {
  Liveness live(graph);
  std::vector<std::uint32_t> ready;
  for (std::uint32_t node = 0; node < graph.nodes.size(); ++node) {
    if (live.can_run(node)) ready.push_back(node);
  }
  std::vector<Turn> turns;
  while (!ready.empty()) {
    const std::size_t next = next_of(ready, live, schedule);
    const std::uint32_t node = ready[next];
    ready[next] = ready.back();
    ready.pop_back();
    turns.push_back(live.run(node, ready));
  }
  return turns;
}

std::int64_t most_held(const std::vector<Turn>& turns) {
  std::int64_t held = 0, most = 0;
  for (const Turn& turn : turns) {
    held += turn.allocates;
    most = std::max(most, held);
    held -= turn.releases;
  }
  return most;
}

}  // namespace tessera::strategy::mcm
