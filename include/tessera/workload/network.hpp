// Published networks that are no transformers, by their family and its keys (docs/graphs.md).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/workload/graph.hpp"

namespace tessera::workload {

/// What every file of a network says beside its family's own keys.
struct NetworkKeys {
  std::string name, network, datatype, source;
  std::int64_t batch = 1;
  std::int64_t published_parameters = 0, published_multiply_adds = 0;  ///< of one sample; 0: none
  std::int64_t host_parameters = 0;  ///< of the published ones: tables that the host looks up
};

struct NetworkFamily {
  std::string name;
  std::string help;
  std::function<const config::SchemaBase&()> schema;
  std::function<Graph(const config::Table& model, config::Diagnostics&)> build;
};
/// Implementations: src/workload/graphs/, a file each.
[[nodiscard]] const std::vector<NetworkFamily>& network_families();

/// Whether a [model] table is one of these: it has the key `network`.
[[nodiscard]] bool is_network(const config::Table& model);
/// The graph of such a table. Problems go to `diagnostics`; the graph is of no use then.
[[nodiscard]] Graph read_network(const config::Table& model, config::Diagnostics& diagnostics);
/// What stands for it in a resolved experiment: a [model] table with the graph and nothing else. Null after an error.
[[nodiscard]] std::shared_ptr<config::Table> network_as_graph(const config::Table& model,
                                                              config::Diagnostics& diagnostics);

}  // namespace tessera::workload
