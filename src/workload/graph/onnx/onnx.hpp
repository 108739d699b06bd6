// ONNX files.
#pragma once

#include "tessera/workload/graph_file.hpp"

namespace tessera::workload {

/// Shapes are inferred; what an operator takes and makes counts as it lies in memory.
[[nodiscard]] Graph read_onnx(const std::string& content, const std::string& file, const OnnxKeys& keys,
                              config::Diagnostics& diagnostics);

}  // namespace tessera::workload
