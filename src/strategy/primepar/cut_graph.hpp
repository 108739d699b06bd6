// A graph whose operators are partitioned: what each device works on, sends and sums, derived once for all devices.
#pragma once

#include <array>
#include <map>
#include <utility>
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

/// Whether the phase is a product of a weight, in one step, whose result devices sum before it is used: what T3 runs as
/// one sub-layer (program/sublayer.hpp).
[[nodiscard]] bool may_be_sublayer(const CutNode& node, Phase phase);

[[nodiscard]] CutNode cut_node(const Operator& op, const Partition& partition, int bits);

struct CutEdge {
  const Edge* edge = nullptr;
  std::vector<Piece> forward, backward;
};

/// One layer: nodes in the order of the graph, edges but for those to the next layer.
struct CutLayer {
  std::vector<CutNode> nodes;
  std::vector<CutEdge> edges;
};

/// From the last layer of a pipeline stage to the first one of the next, whose devices are others. The tensor goes
/// once, to the first of those that read it there, and from there to the others; gradients come back the same way.
struct CutBoundary {
  std::vector<Piece> forward, backward;  ///< between stages
  std::vector<std::vector<Piece>> spread,
      collect;  ///< inside the next stage: forward from, backward to the first reader
};

/// All layers, one after the other, of every pipeline stage alike. Equal ones are there once, and so is what they
/// redistribute between them.
struct CutGraph {
  const Graph* graph = nullptr;
  std::vector<CutLayer> kinds;
  std::vector<std::size_t> layers;                                              ///< their kinds
  std::map<std::pair<std::size_t, std::size_t>, std::vector<CutEdge>> between;  ///< by the kinds of both layers
  CutBoundary boundary;
};

/// `partitions` by layer and node; at least one layer. The graph outlives it. Throws InputError as check_partition
/// does.
[[nodiscard]] CutGraph cut_graph(const Graph& graph, const std::vector<std::vector<Partition>>& partitions, int bits);

}  // namespace tessera::strategy::primepar
