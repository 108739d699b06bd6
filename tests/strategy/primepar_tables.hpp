// Made-up costs for tests of searches.
#pragma once

#include "strategy/primepar/costs/costs.hpp"
#include "tessera/base/random.hpp"

namespace tessera::strategy::primepar {

/// Made-up costs of a graph with these edges, so many choices an operator.
inline CostTables made_up(const std::vector<CostTables::Edge>& edges, std::size_t nodes, std::size_t choices,
                          std::uint64_t seed) {
  const KeyedRandom draws(seed, random_stream("costs"));
  std::uint64_t index = 0;
  const auto times = [&](std::size_t count) {
    std::vector<Time> found;
    for (std::size_t i = 0; i < count; ++i) found.push_back(static_cast<Time>(draws.below(index++, 1000)));
    return found;
  };
  CostTables tables;
  for (std::size_t node = 0; node < nodes; ++node) tables.nodes.push_back(times(choices));
  for (CostTables::Edge edge : edges) {
    edge.times = {choices, choices, times(choices * choices)};
    tables.edges.push_back(std::move(edge));
  }
  return tables;
}

inline CostTables::Edge edge(int from, int to, bool to_next_layer = false) { return {from, to, to_next_layer, {}}; }

inline std::vector<CostTables::Edge> chain(int nodes) {
  std::vector<CostTables::Edge> edges;
  for (int node = 1; node < nodes; ++node) edges.push_back(edge(node - 1, node));
  return edges;
}

inline void scale(CostTables& tables, Time by) {
  for (std::vector<Time>& node : tables.nodes) {
    for (Time& time : node) time *= by;
  }
  for (CostTables::Edge& one : tables.edges) {
    for (Time& time : one.times.times) time *= by;
  }
}

}  // namespace tessera::strategy::primepar
