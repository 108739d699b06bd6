// From a table with the key `network` to its graph.
#include "tessera/workload/network.hpp"

#include "tessera/workload/graph_file.hpp"

namespace tessera::workload {

bool is_network(const config::Table& model) { return model.find("network") != nullptr; }

Graph read_network(const config::Table& model, config::Diagnostics& diagnostics) {
  const config::Value& name = *model.find("network");
  if (name.string() == nullptr) {
    diagnostics.error(name.where(), "\"network\": " + name.type_name() + " is not allowed here, expected one of " +
                                        config::listed(config::names_of(network_families())));
    return {};
  }
  const NetworkFamily* family = config::find(network_families(), "network", *name.string(), name.where(), diagnostics);
  if (family == nullptr) return {};
  const std::size_t before = diagnostics.errors().size();
  Graph graph = family->build(model, diagnostics);
  if (diagnostics.errors().size() != before) return {};
  for (const GraphProblem& problem : check_graph(graph)) diagnostics.error(model.where(), problem.what);
  return graph;
}

std::shared_ptr<config::Table> network_as_graph(const config::Table& model, config::Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors().size();
  const Graph graph = read_network(model, diagnostics);
  if (diagnostics.errors().size() != before) return nullptr;
  const config::Location where = model.find("network")->where();
  auto table = std::make_shared<config::Table>(where);
  table->set("graph", {graph_table(graph, where), where});
  return table;
}

}  // namespace tessera::workload
