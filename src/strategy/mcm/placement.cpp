#include "placement.hpp"

#include <set>
#include <tuple>

#include "tessera/base/integers.hpp"

namespace tessera::strategy::mcm {
namespace {

std::int64_t weights_of(const workload::Graph& graph, const workload::GraphNode& node) {
  const std::set<workload::TensorId> read(node.reads.begin(), node.reads.end());
  std::int64_t bytes = 0;
  for (const workload::TensorId tensor : read) {
    const workload::TensorKind kind = graph.tensors[tensor].kind;
    if (kind == workload::TensorKind::parameter || kind == workload::TensorKind::constant)
      bytes = saturating_sum(bytes, graph.tensors[tensor].bytes);
  }
  return bytes;
}

/// What goes from one node to another one.
struct Passed {
  std::int32_t from = 0, to = 0;
  std::int64_t bytes = 0;  ///< each tensor once
};

std::vector<Passed> passed_on(const workload::Graph& graph) {
  std::set<std::tuple<workload::GraphNodeId, workload::GraphNodeId, workload::TensorId>> each;
  for (const workload::GraphEdge& edge : graph.edges()) each.emplace(edge.from, edge.to, edge.tensor);
  std::vector<Passed> edges;
  for (const auto& [first, second, tensor] : each) {
    const auto from = static_cast<std::int32_t>(first), to = static_cast<std::int32_t>(second);
    if (edges.empty() || edges.back().from != from || edges.back().to != to) edges.push_back({from, to, 0});
    edges.back().bytes = saturating_sum(edges.back().bytes, graph.tensors[tensor].bytes);
  }
  return edges;
}

/// A node of the graph on a device that computes it.
struct Placed {
  std::int32_t node = 0, device = 0;
  Time time = 0;
  std::int64_t weights = 0;  ///< B
  std::string name;
};

std::vector<Placed> placed_nodes(const Package& package, const Partition& partition) {
  std::vector<std::vector<ChipId>> chips(package.graph.nodes.size());  // by node of the graph
  for (NodeId node = 0; node < partition.size(); ++node) chips[package.reduced.node_of[node]] = {partition[node]};
  const std::vector<std::vector<ChipId>> copied = copies(package.reduced, partition);
  for (std::size_t i = 0; i < copied.size(); ++i) chips[package.reduced.replicated[i]] = copied[i];
  std::vector<Placed> placed;
  for (workload::GraphNodeId node = 0; node < chips.size(); ++node) {
    const workload::GraphNode& one = package.graph.nodes[node];
    for (const ChipId chip : chips[node])
      placed.push_back({static_cast<std::int32_t>(node), static_cast<std::int32_t>(package.devices[chip]),
                        machine::slowed(package.times[node], package.speeds[chip]), weights_of(package.graph, one),
                        one.name});
  }
  return placed;
}

}  // namespace

std::vector<DataTable> placement_tables(const Package& package, const Partition& partition) {
  const std::vector<Placed> placed = placed_nodes(package, partition);
  DataTable nodes{"partition", "Nodes of the computation graph by the device that computes them.", {}};
  nodes
      .index("node", "of the graph, in its order; one that several devices compute is there for each",
             values_of(placed, &Placed::node))
      .index("device", "where it is computed", values_of(placed, &Placed::device))
      .integer("time_ps", "ps", "of the node on this device, of one pass", values_of(placed, &Placed::time))
      .integer("weights", "B", "parameters and constants that it reads; others may read them too",
               values_of(placed, &Placed::weights))
      .text("name", "of the node", values_of(placed, &Placed::name));
  const std::vector<Passed> between = passed_on(package.graph);
  DataTable edges{"graph_edges", "Edges of the computation graph: what one node makes and another one reads.", {}};
  edges.index("from", "node of /partition that makes it", values_of(between, &Passed::from))
      .index("to", "node that reads it", values_of(between, &Passed::to))
      .integer("bytes", "B", "of all tensors between the two", values_of(between, &Passed::bytes));
  return {std::move(nodes), std::move(edges)};
}

}  // namespace tessera::strategy::mcm
