// Networks of inputs/graphs, and from a few keys, for the tests of this layer.
#pragma once

#include <algorithm>
#include <filesystem>

#include "models_from.hpp"
#include "tessera/workload/network.hpp"

namespace tessera::workload {

inline const std::string graphs_folder = test::source_folder() + "/inputs/graphs/";

/// The names of all files there, sorted.
inline std::vector<std::string> all_networks() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(graphs_folder))
    if (entry.is_regular_file()) names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

/// A file's table, read without error.
inline std::shared_ptr<config::Table> table_from(const std::string& path) {
  config::Diagnostics diagnostics;
  auto table = config::parse_toml(text_of(path), path, diagnostics);
  REQUIRE(diagnostics.errors() == std::vector<std::string>{});
  return table;
}

inline Graph network_from(const config::Table& table) {
  config::Diagnostics diagnostics;
  Graph graph = read_network(table, diagnostics);
  REQUIRE(diagnostics.errors() == std::vector<std::string>{});
  return graph;
}

/// Of keys in TOML; the name is "n".
inline Graph network_of(const std::string& keys) {
  config::Diagnostics diagnostics;
  const auto table = config::parse_toml("name = \"n\"\n" + keys, "n.toml", diagnostics);
  REQUIRE(diagnostics.errors() == std::vector<std::string>{});
  return network_from(*table);
}

inline const GraphNode& node_named(const Graph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.nodes, name, &GraphNode::name);
  if (found == graph.nodes.end()) FAIL("there is no node \"" << name << "\"");
  return *found;
}

inline std::int64_t multiply_adds(const Graph& graph) { return graph.flops() / 2; }
inline std::int64_t multiply_adds(const GraphNode& node) { return node.flops() / 2; }

}  // namespace tessera::workload
