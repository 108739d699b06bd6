// The configurations that T3 compares (section 5.3), and CU sharing (section 3.2.1). Adding one is a function here and
// its line in the list.
#pragma once

#include <string>
#include <vector>

#include "tessera/strategy/t3/t3.hpp"

namespace tessera::strategy::t3 {

/// One sub-layer as all configurations get it.
struct Work {
  program::GemmKernel gemm;  ///< whose map communicates
  program::Activity activity = program::Activity::forward;
  std::string label;
  std::uint32_t group_slot = 0;  ///< the devices that share it
  bool gathers = true;           ///< the sum is wanted everywhere
  std::int64_t gemm_cus = 0;
  std::int64_t collective_cus = 0;
  std::int64_t ranks = 1;

  /// Whether the map gathers what each device makes by itself; otherwise what they make is summed.
  [[nodiscard]] bool gathers_shards() const;
  /// Of the array that all devices end with.
  [[nodiscard]] std::int64_t result_bytes() const { return gemm.shape.output_bytes() * (gathers_shards() ? ranks : 1); }
};

/// Where a configuration writes what it does. The side stream runs beside the main one; its kernels have a memory of
/// their own.
struct Streams {
  program::BlockBuilder& main;
  program::BlockBuilder& side;
};

struct Configuration {
  std::string name;
  std::string help;
  bool uses_side = false;  ///< it writes to the side stream as well
  bool fused = false;      ///< the collective needs no buffer of its own
  bool whole = true;       ///< the sub-layer, not a part of it
  bool sums = false;       ///< it is about a reduce-scatter
  void (*add)(const Work& work, Streams& streams) = nullptr;
};
[[nodiscard]] const std::vector<Configuration>& configurations();
[[nodiscard]] const Configuration& configuration(const std::string& name);
[[nodiscard]] std::vector<std::string> configuration_names();
[[nodiscard]] std::string configuration_help();

inline constexpr std::uint32_t side_go = 0;  ///< events of a device
inline constexpr std::uint32_t side_done = 1;

}  // namespace tessera::strategy::t3
