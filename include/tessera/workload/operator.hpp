// What one device computes: operators with their work, already cut to the device's share.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/base/time.hpp"
#include "tessera/machine/machine.hpp"

namespace tessera::workload {

enum class OperatorKind : std::uint8_t {
  gemm,         ///< batch x (m x k) (k x n), on the matrix units
  attention,    ///< fused attention (FlashAttention): matrix units, scores stay on chip
  norm,         ///< layer norm, RMS norm
  elementwise,  ///< bias, dropout, residual, activation function, scale, mask
  softmax,
  embedding,    ///< gather or scatter of rows
  optimizer,    ///< Adam step
  reduction,    ///< element-wise sum of received data (collectives)
  copy,         ///< memory to memory
};

/// One kernel on one device. All counts are of this device's share.
struct Operator {
  OperatorKind kind = OperatorKind::elementwise;
  std::string name;               ///< "qkv", "fc1 dgrad", "softmax": for timelines and breakdowns
  std::string datatype = "fp16";
  std::int64_t batch = 1;         ///< gemm: independent products (heads x micro-batch)
  std::int64_t m = 0, n = 0, k = 0;   ///< gemm and attention: dimensions of one product
  std::int64_t flops = 0;         ///< multiply-add = 2
  std::int64_t bytes_read = 0;    ///< from device memory, each operand once
  std::int64_t bytes_written = 0;
};

/// Time of an operator on a device. Implementations: `roofline`, `tile` (src/workload/cost/, one file each).
class CostModel {
 public:
  virtual ~CostModel() = default;
  /// Duration in ps, > 0 for any work, on a device at normal speed. A datatype that the device has no peak for: InputError.
  [[nodiscard]] virtual Time time(const Operator& op, const machine::DeviceSpec& device) const = 0;
};

struct CostModelKind {
  std::string name;
  std::string help;
  std::function<const config::SchemaBase&()> schema;
  std::function<std::unique_ptr<CostModel>(const config::Table& cost, config::Diagnostics&)> make;
};
[[nodiscard]] const std::vector<CostModelKind>& cost_model_kinds();
/// From a [cost] table (`model = "roofline"` and that model's own keys).
[[nodiscard]] std::unique_ptr<CostModel> make_cost_model(const config::Table& cost, config::Diagnostics& diagnostics);

}  // namespace tessera::workload
