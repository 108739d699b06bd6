// What holds of any graph.
#include "tessera/workload/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <set>
#include <string_view>

#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload {
namespace {

constexpr GraphNodeId nobody = std::numeric_limits<GraphNodeId>::max();

/// Which node makes each tensor; tensors have to exist.
std::vector<GraphNodeId> makers(const Graph& graph) {
  std::vector<GraphNodeId> found(graph.tensors.size(), nobody);
  for (GraphNodeId node = 0; node < graph.nodes.size(); ++node) {
    for (const TensorId tensor : graph.nodes[node].writes) found[tensor] = node;
  }
  return found;
}

/// Those that can run, and how many of the nodes that each of the others waits for are left.
struct Ordered {
  std::vector<GraphNodeId> nodes;
  std::vector<std::size_t> waits;
};

/// The first of those that can run comes next.
Ordered ordered(const Graph& graph, const std::vector<GraphEdge>& edges) {
  Ordered found;
  found.waits.resize(graph.nodes.size(), 0);
  std::vector<std::vector<GraphNodeId>> readers(graph.nodes.size());
  for (const GraphEdge& edge : edges) {
    ++found.waits[edge.to];
    readers[edge.from].push_back(edge.to);
  }
  std::priority_queue<GraphNodeId, std::vector<GraphNodeId>, std::greater<>> ready;
  for (GraphNodeId node = 0; node < graph.nodes.size(); ++node)
    if (found.waits[node] == 0) ready.push(node);
  while (!ready.empty()) {
    const GraphNodeId node = ready.top();
    ready.pop();
    found.nodes.push_back(node);
    for (const GraphNodeId reader : readers[node])
      if (--found.waits[reader] == 0) ready.push(reader);
  }
  return found;
}

/// "a, b, a": each reads from the one before. `waits` says which nodes cannot run.
GraphProblem cycle(const Graph& graph, const std::vector<GraphEdge>& edges, const std::vector<std::size_t>& waits) {
  std::vector<GraphNodeId> before(graph.nodes.size(), nobody);
  for (const GraphEdge& edge : edges)
    if (waits[edge.from] > 0 && waits[edge.to] > 0) before[edge.to] = edge.from;
  GraphNodeId node = 0;
  while (before[node] == nobody) ++node;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) node = before[node];  // into the cycle, wherever it began
  std::string text = graph.nodes[node].name;
  for (GraphNodeId at = before[node]; at != node; at = before[at]) text = graph.nodes[at].name + ", " + text;
  return {fmt::format("nodes that wait for each other: {}, {}", graph.nodes[node].name, text), node};
}

std::vector<GraphProblem> problems_of_writes(const Graph& graph, std::vector<GraphNodeId>& maker) {
  std::vector<GraphProblem> problems;
  for (GraphNodeId node = 0; node < graph.nodes.size(); ++node) {
    const std::string& name = graph.nodes[node].name;
    for (const TensorId id : graph.nodes[node].writes) {
      const Tensor& tensor = graph.tensors[id];
      if (tensor.kind != TensorKind::made)
        problems.push_back({fmt::format("node {} makes {}, which is there from the start", name, tensor.name), node});
      else if (maker[id] != nobody)
        problems.push_back(
            {fmt::format("{} is made by node {} and by node {}", tensor.name, graph.nodes[maker[id]].name, name),
             node});
      maker[id] = node;
    }
  }
  return problems;
}

std::vector<GraphProblem> tensor_problems(const Graph& graph) {
  for (GraphNodeId node = 0; node < graph.nodes.size(); ++node) {
    const GraphNode& one = graph.nodes[node];
    for (const auto* tensors : {&one.reads, &one.writes}) {
      if (std::ranges::any_of(*tensors, [&](TensorId id) { return id >= graph.tensors.size(); }))
        return {{fmt::format("node {} has a tensor that does not exist", one.name), node}};
    }
  }
  std::vector<GraphNodeId> maker(graph.tensors.size(), nobody);
  std::vector<GraphProblem> problems = problems_of_writes(graph, maker);
  for (GraphNodeId node = 0; node < graph.nodes.size(); ++node) {
    const GraphNode& one = graph.nodes[node];
    for (const TensorId id : one.reads) {
      if (graph.tensors[id].kind == TensorKind::made && maker[id] == nobody)
        problems.push_back(
            {fmt::format("node {} reads {}, which no node makes", one.name, graph.tensors[id].name), node});
    }
  }
  return problems;
}

}  // namespace

std::int64_t Graph::parameters() const {
  std::int64_t sum = 0;
  for (const Tensor& tensor : tensors)
    if (tensor.kind == TensorKind::parameter) sum = saturating_sum(sum, tensor.elements);
  return sum;
}

std::int64_t Graph::weight_bytes() const {
  std::int64_t sum = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.kind == TensorKind::parameter || tensor.kind == TensorKind::constant)
      sum = saturating_sum(sum, tensor.bytes);
  }
  return sum;
}

std::int64_t Graph::flops() const {
  std::int64_t sum = 0;
  for (const GraphNode& node : nodes) sum = saturating_sum(sum, node.flops());
  return sum;
}

std::string Graph::product_datatype() const {
  std::string found;
  for (const GraphNode& node : nodes) {
    for (const Operator& op : node.work.forward) {
      if (!uses_matrix_units(op.kind)) continue;
      if (!found.empty() && found != op.datatype) return {};
      found = op.datatype;
    }
  }
  return found;
}

std::vector<GraphEdge> Graph::edges() const {
  const std::vector<GraphNodeId> maker = makers(*this);
  std::vector<GraphEdge> found;
  for (GraphNodeId node = 0; node < nodes.size(); ++node) {
    for (const TensorId tensor : nodes[node].reads)
      if (maker[tensor] != nobody) found.push_back({maker[tensor], node, tensor});
  }
  return found;
}

std::vector<GraphProblem> check_graph(const Graph& graph) {
  if (graph.nodes.empty()) return {{"a graph without nodes", std::nullopt}};
  std::vector<GraphProblem> problems = tensor_problems(graph);
  if (!problems.empty()) return problems;
  std::set<std::string_view> names;
  for (GraphNodeId node = 0; node < graph.nodes.size(); ++node) {
    const std::string& name = graph.nodes[node].name;
    if (!names.insert(name).second) problems.push_back({fmt::format("two nodes are called {}", name), node});
  }
  const std::vector<GraphEdge> edges = graph.edges();
  const Ordered found = ordered(graph, edges);
  if (found.nodes.size() < graph.nodes.size()) problems.push_back(cycle(graph, edges, found.waits));
  return problems;
}

std::vector<GraphNodeId> topological_order(const Graph& graph) {
  std::vector<GraphNodeId> order = ordered(graph, graph.edges()).nodes;
  if (order.size() < graph.nodes.size()) throw InternalError("a graph with a cycle has no order");
  return order;
}

std::vector<std::vector<GraphNodeId>> segments(const Graph& graph) {
  const std::vector<GraphNodeId> order = topological_order(graph);
  std::vector<std::size_t> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  const std::vector<GraphNodeId> maker = makers(graph);
  // Of each tensor the places between which it is on its way: made at one, last read at the other.
  std::vector<std::size_t> last(graph.tensors.size(), 0);
  for (GraphNodeId node = 0; node < graph.nodes.size(); ++node) {
    for (const TensorId tensor : graph.nodes[node].reads) last[tensor] = std::max(last[tensor], place[node]);
  }
  std::vector<std::int64_t> change(order.size() + 1, 0);
  std::vector<bool> hands_on(order.size(), false);  // what the node makes is read behind it
  for (TensorId tensor = 0; tensor < graph.tensors.size(); ++tensor) {
    if (maker[tensor] == nobody || last[tensor] <= place[maker[tensor]]) continue;
    ++change[place[maker[tensor]]];
    hands_on[place[maker[tensor]]] = true;
    --change[last[tensor]];
  }
  std::vector<std::vector<GraphNodeId>> found(1);
  std::int64_t on_their_way = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    found.back().push_back(order[i]);
    on_their_way += change[i];
    const bool is_cut = on_their_way == 0 || (on_their_way == 1 && hands_on[i]);
    if (is_cut && i + 1 < order.size()) found.emplace_back();
  }
  return found;
}

}  // namespace tessera::workload
