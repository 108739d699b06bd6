// Computation graphs from files (docs/graphs.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/workload/graph.hpp"

namespace tessera::workload {

/// The size of a dimension that a file of ONNX knows by name alone.
struct NamedDimension {
  std::string name;
  std::int64_t size = 1;
  config::Location where;
};

/// What stands beside the name of a file of ONNX.
struct OnnxKeys {
  std::string floats = "fp32";  ///< what FLOAT counts as
  std::vector<NamedDimension> dimensions;
};

/// From what a file holds: `*.onnx`, `*.json` or, under any other name, TOML. Problems go to `diagnostics`; the graph
/// is of no use then. Otherwise it passes check_graph().
[[nodiscard]] Graph read_graph_file(const std::string& content, const std::string& file,
                                    config::Diagnostics& diagnostics, const OnnxKeys& keys = {});
/// Whether a file is one of these, and no transformer by its dimensions.
[[nodiscard]] bool lists_nodes(const std::string& content, const std::string& file);
/// Whether this build reads ONNX (the package libonnx-dev).
[[nodiscard]] bool reads_onnx();

/// A table of tensors and nodes as in a file of TOML: a graph as it stands in a resolved experiment.
[[nodiscard]] Graph read_graph(const config::Table& table, config::Diagnostics& diagnostics);
/// The table of a file as read_graph_file() takes it: the file's own where it is one, every value at its own place.
/// Null, and why is reported: it is no graph.
[[nodiscard]] std::shared_ptr<config::Table> read_graph_table(const std::string& content, const std::string& file,
                                                              config::Diagnostics& diagnostics,
                                                              const OnnxKeys& keys = {});
/// The same table, as if it stood there: read_graph() of it is the graph again. Of graphs whose nodes have one operator
/// each, as those from files; InternalError for others.
[[nodiscard]] std::shared_ptr<config::Table> graph_table(const Graph& graph, const config::Location& where = {});
[[nodiscard]] const config::SchemaBase& graph_schema();

}  // namespace tessera::workload
