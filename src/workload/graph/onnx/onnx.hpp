// ONNX files.
#pragma once

#include "tessera/workload/graph_file.hpp"

namespace tessera::workload {

/// Shapes are inferred; what an operator takes and makes counts as it lies in memory. `floats`: what FLOAT counts as.
[[nodiscard]] Graph read_onnx(const std::string& content, const std::string& file, const std::string& floats,
                              config::Diagnostics& diagnostics);

}  // namespace tessera::workload
