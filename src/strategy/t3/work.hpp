// What is to be done, whatever the configuration: a GEMM and what it communicates.
#pragma once

#include <optional>
#include <string>

#include "tessera/strategy/t3/t3.hpp"

namespace tessera::strategy::t3 {

/// One sub-layer as all configurations get it.
struct Work {
  program::GemmKernel gemm;  ///< whose maps communicate
  program::Activity activity = program::Activity::forward;
  std::string label;
  std::uint32_t group_slot = 0;  ///< the devices that share it
  bool gathers = true;           ///< the sum is wanted everywhere
  std::int64_t gemm_cus = 0;
  std::int64_t collective_cus = 0;
  std::int64_t ranks = 1;

  /// Whether A comes from all devices, ...
  [[nodiscard]] bool gathers_input() const;
  /// ... the result goes anywhere, ...
  [[nodiscard]] bool communicates() const;
  /// ... and is gathered, each device making a shard of it; otherwise what they make is summed.
  [[nodiscard]] bool gathers_shards() const;
  /// Or each device gets its part of each result (all-to-all).
  [[nodiscard]] bool exchanges() const;
  [[nodiscard]] std::int64_t input_bytes() const { return gemm.shape.m * gemm.shape.k * gemm.shape.element; }
  /// Of the array that all devices end with.
  [[nodiscard]] std::int64_t result_bytes() const { return gemm.shape.output_bytes() * (gathers_shards() ? ranks : 1); }
};

/// A key of the options, and why its value cannot be.
struct KeyProblem {
  const char* key = nullptr;
  std::string text;
};
/// What cannot be communicated as the options say.
[[nodiscard]] std::optional<KeyProblem> communication_problem(const Work& work, const Options& options);

}  // namespace tessera::strategy::t3
