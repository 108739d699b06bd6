// Graphs as files and resolved experiments state them: entries of a table, and the keys that they have.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/workload/graph.hpp"

namespace tessera::workload {

/// What a file says of a tensor; its bytes follow from its datatype where they are not given.
struct TensorEntry {
  std::string name, kind = "made";
  std::int64_t elements = 0, bytes = -1;
};

/// The same of a node; what it reads and writes in memory follows from its tensors.
struct NodeEntry {
  std::string name, kind, datatype;
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  std::int64_t bytes_read = -1, bytes_written = -1;
  std::vector<std::string> reads, writes;
  Convolution convolution = {};
};

struct GraphEntry {
  std::string name, datatype = "fp16";
  std::vector<TensorEntry> tensors;
  std::vector<NodeEntry> nodes;
};

[[nodiscard]] const std::vector<std::pair<std::string, TensorKind>>& tensor_kinds();
/// Those that a node of a file can be: what is counted by its operands.
[[nodiscard]] const std::vector<std::pair<std::string, OperatorKind>>& node_kinds();

[[nodiscard]] const config::Schema<GraphEntry>& entry_schema();

}  // namespace tessera::workload
