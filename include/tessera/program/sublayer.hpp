// A product whose result or operand tensor parallelism communicates, and the configurations in which T3 compares
// running it (Pati et al., ASPLOS 2024, section 5.3; CU sharing: section 3.2.1). Strategies write it into their
// programs. Adding a configuration is a function in src/program/sublayer/configurations.cpp and its line in the list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/machine/machine.hpp"
#include "tessera/program/kernel.hpp"
#include "tessera/program/program.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::program::sublayer {

/// An addition to the sum, such as that of a residual (section 7.6).
enum class Following : std::uint8_t {
  nothing,
  by_cus,       ///< on all of it on each device, when it is gathered
  near_memory,  ///< on each device's part of it, before
};

/// What is to be done, whatever the configuration.
struct Work {
  GemmKernel gemm;  ///< whose maps communicate
  Activity activity = Activity::forward;
  std::string label;
  std::uint32_t group_slot = 0;  ///< the devices that share it
  bool gathers = true;           ///< the sum is wanted everywhere
  Following following = Following::nothing;
  std::int64_t gemm_cus = 0;  ///< 0: all
  std::int64_t collective_cus = 0;
  std::int64_t ranks = 1;

  /// Whether A comes from all devices, ...
  [[nodiscard]] bool gathers_input() const;
  /// ... the result goes anywhere, ...
  [[nodiscard]] bool communicates() const;
  /// ... and is gathered, each device making a shard of it; otherwise what they make is summed.
  [[nodiscard]] bool gathers_shards() const;
  /// Or each device makes partial sums, and ends with a part of what they come to, unless that is gathered then. What
  /// maps of the user's own do is not known.
  [[nodiscard]] bool sums() const;
  [[nodiscard]] std::int64_t input_bytes() const { return gemm.shape.m * gemm.shape.k * gemm.shape.element; }
  /// Of the array that all devices end with.
  [[nodiscard]] std::int64_t result_bytes() const { return gemm.shape.output_bytes() * (gathers_shards() ? ranks : 1); }
};

/// Where a configuration writes what it does. The side stream runs beside the main one; its kernels have a memory of
/// their own.
struct Streams {
  BlockBuilder& main;
  BlockBuilder& side;
};
inline constexpr std::uint32_t side_go = 0;  ///< events of a device
inline constexpr std::uint32_t side_done = 1;

struct Configuration {
  std::string name;
  std::string help;
  bool uses_side = false;    ///< it writes to the side stream as well
  bool fused = false;        ///< the GEMM communicates by itself, by maps of the user's own too
  bool near_memory = false;  ///< sums are made where they stay: the collective needs no buffer of its own
  bool whole = true;         ///< the sub-layer, not a part of it
  bool sums = false;         ///< it is about a reduce-scatter
  void (*add)(const Work& work, Streams& streams) = nullptr;
};
[[nodiscard]] const std::vector<Configuration>& configurations();
/// A name that is not there: InternalError.
[[nodiscard]] const Configuration& configuration(const std::string& name);
[[nodiscard]] std::vector<std::string> configuration_names();
[[nodiscard]] std::string configuration_help();

/// What of a shape cannot be, and why.
struct Problem {
  const char* key = nullptr;  ///< "tile_k", "wavefronts"
  std::string text;
};
/// A work-group's parts are whole transactions, and its wavefronts share its rows evenly.
[[nodiscard]] std::optional<Problem> tile_problem(const GemmShape& shape, std::int64_t granularity);

/// Configurations that need no second stream, so that a sub-layer can stand anywhere: "sequential", "t3", "t3-mca".
[[nodiscard]] std::vector<std::string> inline_configurations();
/// At which a strategy may run its sub-layers: "operators", by operators and collectives, or inline.
[[nodiscard]] std::vector<std::string> levels();
/// Why sub-layers in that datatype cannot be simulated at transaction level on that device; empty when they can.
[[nodiscard]] std::string inline_problem(const machine::DeviceSpec& device, const std::string& datatype);

/// One product on one device: m x n x k, a row of the result for each token.
struct Product {
  std::int64_t m = 0, n = 0, k = 0;
};
/// Its kernel, in tiles of GemmShape's own size, tokens first, with a ring reduce-scatter. A datatype that the device
/// has no peak for (see inline_problem) is a fault of the caller.
[[nodiscard]] GemmKernel gemm_kernel(const Product& product, const machine::DeviceSpec& device,
                                     const std::string& datatype);

struct Inline {
  std::string configuration;  ///< one of inline_configurations(), or a part that needs no second stream
  Activity activity = Activity::forward;
  std::uint32_t group_slot = 0;  ///< the tensor-parallel ranks
  bool gathers = true;           ///< all-reduce; false: the result stays scattered (sequence parallelism)
};
/// Appends the product (one, of this rank) by gemm_kernel(), and the sum over the group.
void add_inline(const Inline& sublayer, const machine::DeviceSpec& device, const workload::Operator& gemm,
                BlockBuilder& builder);

}  // namespace tessera::program::sublayer
