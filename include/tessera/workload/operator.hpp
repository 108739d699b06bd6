// What one device computes: operators with their work, already cut to the device's share.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/attachments.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/data_table.hpp"
#include "tessera/base/quantities.hpp"
#include "tessera/machine/machine.hpp"

namespace tessera::workload {

enum class OperatorKind : std::uint8_t {
  gemm,         ///< batch x (m x k) (k x n), on the matrix units
  attention,    ///< fused attention (FlashAttention): matrix units, scores stay on chip
  norm,         ///< layer norm, RMS norm
  elementwise,  ///< one element-wise operation of a library: sum, scale, mask, conversion
  fused,    ///< several of them that a compiler put into one kernel: bias and activation; bias, dropout and residual
  dropout,  ///< on its own
  softmax,
  embedding,  ///< gather or scatter of rows
  optimizer,  ///< unscale, norm, Adam step, conversion of weights
  reduction,  ///< sums over rows or columns: bias gradients, loss
  addition,   ///< a step of a collective adds what it received: inside the collective's kernel, nothing is launched
  copy,       ///< memory to memory
  host,       ///< nothing runs on the device until the host has got going again
};
[[nodiscard]] const char* name_of(OperatorKind kind);
/// Work of gemm and attention is done on the matrix units; all else but `host` streams through memory.
[[nodiscard]] constexpr bool uses_matrix_units(OperatorKind kind) {
  return kind == OperatorKind::gemm || kind == OperatorKind::attention;
}

/// What a product stands for where its left operand is an image: each of its m rows is a window, written out. m counts
/// the places of the output, row by row, of all samples; k the channels of the input (of a group) times the window.
struct Convolution {
  std::int64_t height = 0, width = 0;  ///< of the image; 0: the product is none of a convolution
  std::int64_t out_height = 0, out_width = 0;
  std::int64_t window_height = 1, window_width = 1;
  std::int64_t stride_down = 1;
  std::int64_t pad_down = 0;  ///< rows above the image that are not there
  std::int64_t dilation = 1;

  [[nodiscard]] bool is_one() const { return height > 0; }
  friend auto operator<=>(const Convolution&, const Convolution&) = default;
};

/// One kernel on one device. All counts are of this device's share.
struct Operator {
  OperatorKind kind = OperatorKind::elementwise;
  std::string name;               ///< "qkv", "fc1 dgrad", "softmax": for timelines and breakdowns
  std::string datatype = "fp16";  ///< of the operands; selects the device's peak
  /// gemm: independent products (heads x micro-batch). attention: the same.
  std::int64_t batch = 1;
  /// gemm: dimensions of one product. attention: m queries, n keys of one head, k = head dimension.
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t visible = 0;  ///< attention: pairs of a query and a key that no mask hides, of all products
  /// On the matrix units, multiply-add = 2. The arithmetic of streaming kernels is not counted: at a few operations
  /// per byte it hides behind their memory traffic on every device described here.
  std::int64_t flops = 0;
  std::int64_t bytes_read = 0;  ///< from device memory, each operand once
  std::int64_t bytes_written = 0;
  Time host_time = 0;            ///< host: how long, whatever the cost model
  Convolution convolution = {};  ///< gemm
  std::int64_t scale_bytes = 0;  ///< gemm: of bytes_read, what comes with the numbers of its operands

  friend bool operator==(const Operator&, const Operator&) = default;
};

/// Bytes per element of "fp32", "tf32" (stored as fp32), "fp16", "bf16", "fp8", "int8". Another name: InputError.
[[nodiscard]] std::int64_t bytes_per_element(const std::string& datatype);
/// The same in bits, of these and of "fp4", which operands and weights alone may have.
[[nodiscard]] std::int64_t bits_per_element(const std::string& datatype);
/// The datatypes that bytes_per_element knows.
[[nodiscard]] const std::vector<std::string>& datatype_names();

/// batch products of (m x k) by (k x n): 2 batch m n k FLOP, each operand read once, the result written once.
[[nodiscard]] Operator gemm(const std::string& name, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
                            const std::string& datatype);
/// A kernel that reads and writes that many bytes of device memory.
[[nodiscard]] Operator streaming(OperatorKind kind, const std::string& name, Bytes bytes_read, Bytes bytes_written,
                                 const std::string& datatype);

/// The device waits for the host.
[[nodiscard]] Operator host_pause(const std::string& name, Duration duration);

/// Sum of the FLOPs of operators.
[[nodiscard]] std::int64_t total_flops(const std::vector<Operator>& operators);

/// Whether operators and messages share a device's memory bandwidth ([cost] memory_traffic = "shared").
struct MemoryTraffic {
  bool is_shared = false;
  Bytes packet{};  ///< that each flow moves before the next one has its turn
};

/// What an operator's time() is made of: max(computing, traffic) + launch, on a device that does nothing else.
struct OperatorParts {
  Time computing = 0;  ///< ps, if memory took no time
  Time traffic = 0;    ///< ps, of its bytes if it had the memory for itself, at the rate that such kernels reach
  Time launch = 0;     ///< ps, in which it does neither
};

/// Time of an operator on a device. Implementations: `roofline`, `tile`, `dataflow`, `predictor`
/// (src/workload/cost/, one file each).
class CostModel {
 public:
  virtual ~CostModel() = default;
  /// Duration in ps, > 0 for any work (0 for an operator without flops and bytes), on a device at normal speed.
  /// A datatype that the device has no peak for: InputError.
  [[nodiscard]] virtual Time time(const Operator& op, const machine::DeviceSpec& device) const = 0;
  /// The same in parts: together they take time(), or a picosecond more, which rounding adds. Of a model that says
  /// nothing else: all of it computes, beside its bytes at the memory's bandwidth, for no longer than that.
  [[nodiscard]] virtual OperatorParts parts(const Operator& op, const machine::DeviceSpec& device) const;

  /// Refuses a device that it cannot say a time of, before any is asked for: KeyError.
  virtual void check(const machine::DeviceSpec& device, const std::string& datatype) const;
  /// Of the memory's bandwidth, that kernels of a kind reach.
  [[nodiscard]] virtual double memory_share(OperatorKind kind) const;

  /// What the model says of operators beside their times, for result files; nothing: it has no table of its own.
  [[nodiscard]] virtual std::optional<DataTable> table(const std::vector<Operator>& operators,
                                                       const machine::DeviceSpec& device) const;
  /// What takes long to work out can be kept from one run to the next. What is known so far, for a file, or without
  /// what was learnt; empty: nothing is.
  [[nodiscard]] virtual std::string worked_out(bool own_alone) const;
  /// Learns that. False: it is no such text, is cut off or was changed, and nothing is learnt.
  virtual bool learn(const std::string& text);

  [[nodiscard]] const MemoryTraffic& memory_traffic() const { return memory_traffic_; }
  /// ps that the host takes to launch a kernel; 0: nothing waits for it.
  [[nodiscard]] Time issue_interval() const { return issue_interval_; }

 protected:
  explicit CostModel(const MemoryTraffic& memory_traffic = {}, Time issue_interval = 0)
      : memory_traffic_(memory_traffic), issue_interval_(issue_interval) {}

 private:
  MemoryTraffic memory_traffic_;
  Time issue_interval_ = 0;
};

struct CostModelKind {
  std::string name;
  std::string help;
  std::function<const config::SchemaBase&()> schema;
  /// The files are those that its keys name.
  std::function<std::unique_ptr<CostModel>(const config::Table& cost, const Attachments&, config::Diagnostics&)> make;
};
[[nodiscard]] const std::vector<CostModelKind>& cost_model_kinds();
/// From a [cost] table (`model = "roofline"` and that model's own keys). Null when the diagnostics have an error.
[[nodiscard]] std::unique_ptr<CostModel> make_cost_model(const config::Table& cost, config::Diagnostics& diagnostics,
                                                         const Attachments& attached = {});

}  // namespace tessera::workload
