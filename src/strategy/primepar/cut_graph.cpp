#include "cut_graph.hpp"

namespace tessera::strategy::primepar {

CutNode cut_node(const Operator& op, const Partition& partition, int bits) {
  CutNode node{Slices(op, partition, bits), {}, {}, {}, {}};
  for (const Phase phase : all_phases) {
    if (!op.works_in(phase)) continue;
    const auto i = static_cast<std::size_t>(phase);
    node.transfers[i] = step_transfers(node.slices, phase);
    node.sums[i] = all_reduce(node.slices, phase);
  }
  node.statistics = statistics_groups(node.slices);
  if (op.kind == Kind::linear)
    node.weights_home = moves_between(node.slices, {Tensor::weight, Phase::backward, node.slices.steps() - 1},
                                      {Tensor::weight, Phase::forward, 0});
  return node;
}

CutGraph cut_graph(const Graph& graph, const std::vector<Partition>& partitions, int bits) {
  CutGraph cut;
  cut.graph = &graph;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    cut.nodes.push_back(cut_node(graph.nodes[i].op, partitions[i], bits));
  for (const Edge& edge : graph.edges) {
    const Slices& from = cut.nodes[static_cast<std::size_t>(edge.from)].slices;
    const Slices& to = cut.nodes[static_cast<std::size_t>(edge.to)].slices;
    cut.edges.push_back(
        {forward_redistribution(edge.shared, from, to), backward_redistribution(edge.shared, from, to)});
  }
  return cut;
}

}  // namespace tessera::strategy::primepar
