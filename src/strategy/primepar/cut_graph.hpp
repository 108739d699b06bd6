// A graph whose operators are partitioned: what each device works on, sends and sums, derived once for all devices.
#pragma once

#include <array>
#include <vector>

#include "graph.hpp"
#include "transfers.hpp"

namespace tessera::strategy::primepar {

struct CutNode {
  Slices slices;
  std::array<std::vector<StepTransfer>, 3> transfers;  ///< by phase; none in phases that it does not work in
  std::array<AllReduce, 3> sums;
  std::vector<std::vector<int>> statistics;  ///< groups, see statistics_groups()
  std::vector<Move> weights_home;            ///< W after backward to where the next forward needs it
};

[[nodiscard]] CutNode cut_node(const Operator& op, const Partition& partition, int bits);

struct CutEdge {
  std::vector<Piece> forward, backward;
};

/// In the order of the graph, which outlives it.
struct CutGraph {
  const Graph* graph = nullptr;
  std::vector<CutNode> nodes;
  std::vector<CutEdge> edges;
};

/// `partitions` by node. Throws InputError as check_partition does.
[[nodiscard]] CutGraph cut_graph(const Graph& graph, const std::vector<Partition>& partitions, int bits);

}  // namespace tessera::strategy::primepar
