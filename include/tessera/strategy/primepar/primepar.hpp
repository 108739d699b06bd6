// Strategy "primepar": operators of a transformer layer cut in space and time over all devices (PrimePar, Wang et al.,
// ASPLOS 2024; docs/primepar.md). Operators whose partition is not given get the one of least predicted cost.
//
//   [strategy]
//   name = "primepar"
//   graph = "mlp"
//   [strategy.partitions]
//   fc1 = "{K, P(2x2)}"
//   activation = "{F, M, F}"
//   fc2 = "{N, P(2x2)}"
#pragma once

#include <string>

#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy::primepar {

/// [strategy.partitions]: a sequence of primitives for an operator of the graph; empty: to be chosen.
struct Partitions {
  std::string attention_norm, qkv, scores, softmax, context, projection, attention_residual;
  std::string mlp_norm, fc1, activation, fc2, mlp_residual;
};

/// The keys of its [strategy] table.
struct Options {
  std::string graph = "layer";
  bool temporal = true;  ///< P may be chosen
  bool overlap_gradient_reduction = false;
  std::int64_t pipeline = 1;       ///< stages, over the top bits of the device id
  std::int64_t micro_batches = 1;  ///< of the global batch
  std::string schedule = "1f1b";
  bool recomputation = false;  ///< layers keep what they read alone, and run forward again before they run backward
  std::string sublayers = "operators";  ///< or a configuration, as for strategy megatron
  std::int64_t tensor =
      0;  ///< devices of Megatron's tensor parallelism, which cuts what `partitions` leaves out; 0: none
  std::int64_t simulated = 8;  ///< plans of a search, for different partitions of the linears; the fastest is taken
  Partitions partitions;
  Partitions compared;  ///< a plan to simulate beside them; all of it, or none
};
[[nodiscard]] const config::Schema<Options>& options_schema();
[[nodiscard]] const config::Schema<Partitions>& partitions_schema();

/// For built_in_strategies().
[[nodiscard]] StrategyKind kind();

}  // namespace tessera::strategy::primepar
