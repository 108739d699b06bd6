// The sub-layers whose output tensor parallelism sums (T3, section 6.1).
#pragma once

#include <string>
#include <vector>

#include "tessera/strategy/t3/t3.hpp"

namespace tessera::strategy::t3 {

/// A GEMM cut along its depth over the devices: each has a partial sum of the whole result.
struct Sublayer {
  std::string name;  ///< as in experiments: "fc2"
  std::string help;
  program::Activity activity = program::Activity::forward;
  /// The depth on all devices together.
  std::int64_t (*depth)(const workload::Model& model) = nullptr;
};
/// Output projection, FC-2 (forward), FC-1 and input projection (backward, by their inputs).
[[nodiscard]] const std::vector<Sublayer>& sublayers();
[[nodiscard]] const Sublayer& sublayer(const std::string& name);

/// Those, and "gemm".
[[nodiscard]] std::vector<std::string> sublayer_names();
[[nodiscard]] std::string sublayer_help();

}  // namespace tessera::strategy::t3
