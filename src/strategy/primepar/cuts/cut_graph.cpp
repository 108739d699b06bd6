#include "cut_graph.hpp"

namespace tessera::strategy::primepar {

bool may_be_sublayer(const CutNode& node, Phase phase) {
  return node.slices.op().kind == Kind::linear && phase != Phase::gradient && node.slices.steps() == 1 &&
         !node.sums[static_cast<std::size_t>(phase)].groups.empty();
}

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

namespace {

std::vector<CutEdge> cut_edges(const Graph& graph, const CutLayer& from, const CutLayer& to, bool to_next_layer) {
  std::vector<CutEdge> found;
  for (const Edge& edge : graph.edges) {
    if (edge.to_next_layer != to_next_layer) continue;
    const Slices& producer = from.nodes[static_cast<std::size_t>(edge.from)].slices;
    const Slices& consumer = to.nodes[static_cast<std::size_t>(edge.to)].slices;
    found.push_back({&edge, forward_redistribution(edge.shared, producer, consumer),
                     backward_redistribution(edge.shared, producer, consumer)});
  }
  return found;
}

CutLayer cut_layer(const Graph& graph, const std::vector<Partition>& partitions, int bits) {
  CutLayer layer;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    layer.nodes.push_back(cut_node(graph.nodes[i].op, partitions[i], bits));
  layer.edges = cut_edges(graph, layer, layer, false);
  return layer;
}

}  // namespace

CutGraph cut_graph(const Graph& graph, const std::vector<std::vector<Partition>>& partitions, int bits) {
  CutGraph cut;
  cut.graph = &graph;
  std::map<std::vector<Partition>, std::size_t> known;
  for (const std::vector<Partition>& layer : partitions) {
    const auto [kind, added] = known.try_emplace(layer, cut.kinds.size());
    if (added) cut.kinds.push_back(cut_layer(graph, layer, bits));
    cut.layers.push_back(kind->second);
  }
  for (std::size_t layer = 0; layer < cut.layers.size(); ++layer) {
    const std::pair both(layer == 0 ? cut.layers.back() : cut.layers[layer - 1], cut.layers[layer]);
    if (cut.between.count(both) == 0)
      cut.between[both] = cut_edges(graph, cut.kinds[both.first], cut.kinds[both.second], true);
  }
  return cut;
}

}  // namespace tessera::strategy::primepar
