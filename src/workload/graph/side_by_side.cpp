// Graphs that share a machine.
#include "tessera/workload/graph.hpp"

namespace tessera::workload {
namespace {

void append(Graph& all, const std::string& prefix, const Graph& one) {
  const auto first = static_cast<TensorId>(all.tensors.size());
  for (Tensor tensor : one.tensors) {
    tensor.name.insert(0, prefix);
    all.tensors.push_back(std::move(tensor));
  }
  for (GraphNode node : one.nodes) {
    node.name.insert(0, prefix);
    for (Operator& op : node.work.forward) op.name.insert(0, prefix);
    for (TensorId& tensor : node.reads) tensor += first;
    for (TensorId& tensor : node.writes) tensor += first;
    all.nodes.push_back(std::move(node));
  }
}

}  // namespace

Graph side_by_side(const std::vector<std::pair<std::string, Graph>>& graphs) {
  Graph all;
  for (const auto& [name, graph] : graphs) {
    all.name += (all.name.empty() ? "" : " + ") + graph.name;
    append(all, name + "/", graph);
  }
  return all;
}

}  // namespace tessera::workload
