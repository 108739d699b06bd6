// Steps of windows, which ONNX's inference of shapes divides by without a look.
#pragma once

#include <string>

namespace onnx {
class ModelProto;
}

namespace tessera::workload {

/// Why shapes cannot be inferred: a window, its stride or dilation, or a number of groups below 1. Empty where they
/// can.
[[nodiscard]] std::string problem_of_steps(const onnx::ModelProto& model);

}  // namespace tessera::workload
