#include "problem.hpp"

#include <fmt/core.h>

#include <functional>
#include <queue>

#include "tessera/base/error.hpp"

namespace tessera::strategy::mcm {

void check_problem(const Problem& problem) {
  if (problem.nodes == 0) throw InputError("the graph has no nodes");
  if (problem.chips == 0) throw InputError("the package has no chips");
  if (problem.chips > max_chips)
    throw InputError(fmt::format("the package has {} chips, and at most {} can be cut over", problem.chips, max_chips));
  for (const Edge& edge : problem.edges) {
    if (edge.from >= problem.nodes || edge.to >= problem.nodes)
      throw InputError(fmt::format("edge {} -> {}: there are {} nodes", edge.from, edge.to, problem.nodes));
  }
  (void)topological_order(problem);
}

std::vector<NodeId> topological_order(const Problem& problem) {
  std::vector<std::vector<NodeId>> readers(problem.nodes);
  std::vector<std::uint32_t> waits(problem.nodes, 0);
  for (const Edge& edge : problem.edges) {
    readers[edge.from].push_back(edge.to);
    ++waits[edge.to];
  }
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  for (NodeId node = 0; node < problem.nodes; ++node) {
    if (waits[node] == 0) ready.push(node);
  }
  std::vector<NodeId> order;
  order.reserve(problem.nodes);
  while (!ready.empty()) {
    const NodeId node = ready.top();
    ready.pop();
    order.push_back(node);
    for (const NodeId reader : readers[node]) {
      if (--waits[reader] == 0) ready.push(reader);
    }
  }
  if (order.size() < problem.nodes) {
    NodeId stuck = 0;
    while (waits[stuck] == 0) ++stuck;
    throw InputError(fmt::format("the graph has a cycle: node {} waits for itself or for nodes of the cycle", stuck));
  }
  return order;
}

}  // namespace tessera::strategy::mcm
