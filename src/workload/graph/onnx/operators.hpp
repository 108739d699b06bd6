// What ONNX's operators do, by their shapes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tessera/workload/operator.hpp"

namespace tessera::workload {

using Shape = std::vector<std::int64_t>;

/// One node as its operator sees it; empty shapes are scalars, or operands that are left out.
struct OnnxCall {
  std::vector<Shape> inputs, outputs;
  std::function<std::int64_t(const char* name, std::int64_t otherwise)> attribute;  ///< an integer
};

struct OnnxOperator {
  OperatorKind kind = OperatorKind::elementwise;
  /// Of a gemm: batch, m, n, k of the call. Null: it streams, or is a view.
  std::function<Operator(const OnnxCall&)> product;
  bool is_view = false;                  ///< nothing moves: shapes change, or names
  std::vector<std::size_t> not_trained;  ///< inputs that are constants of the model where they come from the file
};

/// Null: it is not known.
[[nodiscard]] const OnnxOperator* find_onnx_operator(const std::string& type);

[[nodiscard]] std::int64_t elements_of(const Shape& shape);

}  // namespace tessera::workload
