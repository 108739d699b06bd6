// Dimensions that a file of ONNX knows by name alone.
#pragma once

#include <string>
#include <vector>

#include "tessera/workload/graph_file.hpp"

namespace onnx {
class GraphProto;
}

namespace tessera::workload {

/// Gives each dimension its size, wherever its name stands. Problems go to `diagnostics`: a name that the graph lacks,
/// and dimensions of its inputs that have no size then.
void set_dimensions(onnx::GraphProto& graph, const std::vector<NamedDimension>& dimensions, const std::string& file,
                    config::Diagnostics& diagnostics);

/// "dimensions = { N = 1 }", to be written beside the name of the file.
[[nodiscard]] std::string dimensions_key(const std::string& name);

}  // namespace tessera::workload
