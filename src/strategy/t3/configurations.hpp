// The configurations that T3 compares (section 5.3), and CU sharing (section 3.2.1). Adding one is a function here and
// its line in the list.
#pragma once

#include <string>
#include <vector>

#include "work.hpp"

namespace tessera::strategy::t3 {

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
