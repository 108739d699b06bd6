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

/// What a pipeline stage hands to the next one, slice by slice to the device of the same number, and gets back: its
/// last operator's O and dO. The next stage then redistributes them as its next layer would.
[[nodiscard]] inline Moment handed_on(const Slices& last) { return {Tensor::output, Phase::forward, last.steps() - 1}; }
inline constexpr Moment handed_back{Tensor::output, Phase::backward, 0};

/// All layers, one after the other, of every pipeline stage alike. Equal ones are there once, and so is what they
/// redistribute between them.
struct CutGraph {
  const Graph* graph = nullptr;
  std::vector<CutLayer> kinds;
  std::vector<std::size_t> layers;  ///< their kinds
  /// By the kinds of both layers; the last one's and the first one's are there too, for the next stage.
  std::map<std::pair<std::size_t, std::size_t>, std::vector<CutEdge>> between;
};

/// `partitions` by layer and node; at least one layer. The graph outlives it. Throws InputError as check_partition
/// does.
[[nodiscard]] CutGraph cut_graph(const Graph& graph, const std::vector<std::vector<Partition>>& partitions, int bits);

}  // namespace tessera::strategy::primepar
