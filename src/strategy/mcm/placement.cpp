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

std::vector<Placement::Edge> edges_of(const workload::Graph& graph) {
  std::set<std::tuple<workload::GraphNodeId, workload::GraphNodeId, workload::TensorId>> each;
  for (const workload::GraphEdge& edge : graph.edges()) each.emplace(edge.from, edge.to, edge.tensor);
  std::vector<Placement::Edge> edges;
  for (const auto& [from, to, tensor] : each) {
    if (edges.empty() || edges.back().from != from || edges.back().to != to) edges.push_back({from, to, 0});
    edges.back().bytes = saturating_sum(edges.back().bytes, graph.tensors[tensor].bytes);
  }
  return edges;
}

}  // namespace

Placement placement_of(const Package& package, const Partition& partition) {
  std::vector<std::vector<ChipId>> chips(package.graph.nodes.size());  // by node of the graph
  for (NodeId node = 0; node < partition.size(); ++node) chips[package.reduced.node_of[node]] = {partition[node]};
  const std::vector<std::vector<ChipId>> copied = copies(package.reduced, partition);
  for (std::size_t i = 0; i < copied.size(); ++i) chips[package.reduced.replicated[i]] = copied[i];
  Placement placement;
  for (workload::GraphNodeId node = 0; node < chips.size(); ++node) {
    const workload::GraphNode& one = package.graph.nodes[node];
    for (const ChipId chip : chips[node])
      placement.nodes.push_back({node, package.devices[chip],
                                 machine::slowed(package.times[node], package.speeds[chip]),
                                 weights_of(package.graph, one), one.name});
  }
  placement.edges = edges_of(package.graph);
  return placement;
}

}  // namespace tessera::strategy::mcm
