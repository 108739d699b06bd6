#include "replication.hpp"

#include <algorithm>
#include <set>

namespace tessera::strategy::mcm {
namespace {

using workload::Graph;
using workload::GraphNode;
using workload::GraphNodeId;
using workload::TensorKind;

/// What of a graph the rule looks at, by node.
class BroadcastNodes {
 public:
  explicit BroadcastNodes(const Graph& graph)
      : graph_(&graph), order_(topological_order(graph)), readers_(graph.nodes.size()), sources_(graph.nodes.size()) {
    for (const workload::GraphEdge& edge : graph.edges()) {
      readers_[edge.from].push_back(edge.to);
      sources_[edge.to].push_back(edge.from);
    }
    find_cheap();
    find_spans();
  }

  /// Those whose readers lie further apart than this share of the order, and what they are made of.
  [[nodiscard]] std::vector<bool> beyond(double spread) const {
    std::vector<bool> chosen(order_.size(), false);
    const double limit = spread * static_cast<double>(order_.size());
    for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
      const Span span = spans_[*node];
      if (is_cheap_[*node] && span.last > span.first && static_cast<double>(span.last - span.first) > limit)
        chosen[*node] = true;
      if (!chosen[*node]) continue;
      for (const GraphNodeId source : sources_[*node]) chosen[source] = true;
    }
    return chosen;
  }
  [[nodiscard]] bool all_cheap() const {
    return std::all_of(is_cheap_.begin(), is_cheap_.end(), [](bool is) { return is; });
  }
  [[nodiscard]] const std::vector<GraphNodeId>& readers(GraphNodeId node) const { return readers_[node]; }

 private:
  struct Span {
    std::size_t first = ~std::size_t{0}, last = 0;  // places of readers in the order
  };

  [[nodiscard]] bool streams_inputs(GraphNodeId id) const {
    const GraphNode& node = graph_->nodes[id];
    return std::none_of(node.work.forward.begin(), node.work.forward.end(),
                        [](const workload::Operator& op) { return uses_matrix_units(op.kind); }) &&
           std::none_of(node.reads.begin(), node.reads.end(), [&](workload::TensorId tensor) {
             return graph_->tensors[tensor].kind == TensorKind::parameter;
           });
  }
  void find_cheap() {
    is_cheap_.assign(order_.size(), false);
    for (const GraphNodeId node : order_) {
      is_cheap_[node] = streams_inputs(node) && std::all_of(sources_[node].begin(), sources_[node].end(),
                                                            [&](GraphNodeId source) { return is_cheap_[source]; });
    }
  }
  void find_spans() {
    std::vector<std::size_t> place(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) place[order_[i]] = i;
    spans_.resize(order_.size());
    for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
      Span& span = spans_[*node];
      for (const GraphNodeId reader : readers_[*node]) {
        const Span beyond =
            is_cheap_[reader] && !readers_[reader].empty() ? spans_[reader] : Span{place[reader], place[reader]};
        span = {std::min(span.first, beyond.first), std::max(span.last, beyond.last)};
      }
    }
  }

  const Graph* graph_;
  std::vector<GraphNodeId> order_;
  std::vector<std::vector<GraphNodeId>> readers_, sources_;
  std::vector<bool> is_cheap_;
  std::vector<Span> spans_;
};

// Nodes of the problem that need a copy of a replicated one, also to make a copy of another.
std::vector<NodeId> solved_readers(const BroadcastNodes& nodes, GraphNodeId replicated,
                                   const std::vector<std::optional<NodeId>>& solved_as) {
  std::vector<NodeId> result;
  std::vector<GraphNodeId> open{replicated};
  std::set<GraphNodeId> seen;
  while (!open.empty()) {
    const GraphNodeId from = open.back();
    open.pop_back();
    for (const GraphNodeId reader : nodes.readers(from)) {
      if (!seen.insert(reader).second) continue;
      if (solved_as[reader])
        result.push_back(*solved_as[reader]);
      else
        open.push_back(reader);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

Reduced reduce(const workload::Graph& graph, std::uint32_t chips, const ReplicationRule& rule) {
  const BroadcastNodes nodes(graph);
  std::vector<bool> is_replicated(graph.nodes.size(), false);
  if (!nodes.all_cheap()) is_replicated = nodes.beyond(rule.spread > 0 ? rule.spread : 2.0 / chips);

  Reduced reduced;
  reduced.solved_as.resize(graph.nodes.size());
  for (GraphNodeId node = 0; node < graph.nodes.size(); ++node) {
    if (is_replicated[node]) {
      reduced.replicated.push_back(node);
      continue;
    }
    reduced.solved_as[node] = static_cast<NodeId>(reduced.node_of.size());
    reduced.node_of.push_back(node);
  }
  reduced.problem = {static_cast<std::uint32_t>(reduced.node_of.size()), chips, {}};
  for (const workload::GraphEdge& edge : graph.edges()) {
    if (!is_replicated[edge.from])
      reduced.problem.edges.push_back({*reduced.solved_as[edge.from], *reduced.solved_as[edge.to]});
  }
  for (const GraphNodeId node : reduced.replicated)
    reduced.readers_of_copy.push_back(solved_readers(nodes, node, reduced.solved_as));
  return reduced;
}

std::vector<std::vector<ChipId>> copies(const Reduced& reduced, const Partition& partition) {
  std::vector<std::vector<ChipId>> result;
  for (const std::vector<NodeId>& readers : reduced.readers_of_copy) {
    std::vector<ChipId>& chips = result.emplace_back();
    for (const NodeId reader : readers) chips.push_back(partition[reader]);
    std::sort(chips.begin(), chips.end());
    chips.erase(std::unique(chips.begin(), chips.end()), chips.end());
  }
  return result;
}

}  // namespace tessera::strategy::mcm
