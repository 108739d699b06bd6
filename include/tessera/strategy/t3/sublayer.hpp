// A sub-layer at transaction level inside another strategy's program: the GEMM whose result tensor parallelism sums,
// its reduce-scatter and its all-gather, fused or not (T3, sections 5.1.2 and 6.3).
#pragma once

#include <string>
#include <vector>

#include "tessera/machine/machine.hpp"
#include "tessera/program/program.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::strategy::t3 {

/// Configurations that need no second stream, so that a sub-layer can stand anywhere: "sequential", "t3", "t3-mca".
[[nodiscard]] std::vector<std::string> inline_configurations();

/// Why sub-layers in that datatype cannot be simulated at transaction level on that device; empty when they can.
[[nodiscard]] std::string inline_problem(const machine::DeviceSpec& device, const std::string& datatype);

struct InlineSublayer {
  std::string configuration;  ///< one of inline_configurations()
  program::Activity activity = program::Activity::forward;
  std::uint32_t group_slot = 0;  ///< the tensor-parallel ranks
  bool gathers = true;           ///< all-reduce; false: the result stays scattered (sequence parallelism)
};
/// Appends the product (one, m x n x k of this rank) and the sum over the group; tiles and order as strategy "t3" has
/// them when nothing is said.
void add_sublayer(const InlineSublayer& sublayer, const machine::DeviceSpec& device, const workload::Operator& gemm,
                  program::BlockBuilder& builder);

}  // namespace tessera::strategy::t3
