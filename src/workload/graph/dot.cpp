// A graph as Graphviz draws it.
#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

#include "tessera/base/config.hpp"
#include "tessera/workload/graph.hpp"

namespace tessera::workload {
namespace {

std::string quoted(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    if (c == '\n')
      all += "\\n";
    else
      all += c;
  }
  return fmt::format("\"{}\"", all);
}

std::string rounded(std::int64_t value, config::Unit unit) { return config::format_rounded(value, unit); }

/// Products are boxes, what streams is round.
std::string node_text(const Graph& graph, GraphNodeId id) {
  const GraphNode& node = graph.nodes[id];
  std::int64_t weights = 0;
  for (const TensorId tensor : node.reads) {
    const TensorKind kind = graph.tensors[tensor].kind;
    if (kind == TensorKind::parameter || kind == TensorKind::constant) weights += graph.tensors[tensor].bytes;
  }
  std::string label = node.name;
  if (node.flops() > 0) label += fmt::format("\n{:.3g} GFLOP", 1e-9 * static_cast<double>(node.flops()));
  if (weights > 0) label += fmt::format("\n{} of weights", rounded(weights, config::Unit::bytes));
  return fmt::format("  n{} [label={}{}];\n", id, quoted(label), node.flops() > 0 ? ", shape=box" : "");
}

}  // namespace

std::string to_dot(const Graph& graph) {
  std::string text = fmt::format("digraph {} {{\n", quoted(graph.name));
  for (GraphNodeId id = 0; id < graph.nodes.size(); ++id) text += node_text(graph, id);
  std::map<std::pair<GraphNodeId, GraphNodeId>, std::int64_t> bytes;
  std::set<std::tuple<GraphNodeId, GraphNodeId, TensorId>> seen;  // a tensor goes there once, however often it is read
  for (const GraphEdge& edge : graph.edges()) {
    if (seen.emplace(edge.from, edge.to, edge.tensor).second)
      bytes[{edge.from, edge.to}] += graph.tensors[edge.tensor].bytes;
  }
  for (const auto& [ends, sum] : bytes)
    text +=
        fmt::format("  n{} -> n{} [label={}];\n", ends.first, ends.second, quoted(rounded(sum, config::Unit::bytes)));
  return text + "}\n";
}

}  // namespace tessera::workload
