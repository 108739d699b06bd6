// The cost models of src/workload/cost/, one file each, and what they share.
#pragma once

#include <cstdint>

#include "tessera/workload/operator.hpp"

namespace tessera::workload {

[[nodiscard]] CostModelKind roofline_kind();
[[nodiscard]] CostModelKind tile_kind();

namespace cost {

/// The device's peak for the operator's datatype in FLOP/ps; none: KeyError that names those it has.
[[nodiscard]] double peak_rate(const Operator& op, const machine::DeviceSpec& device);
/// Time in ps that the operator's traffic takes at that fraction of the memory's bandwidth.
[[nodiscard]] double memory_time(const Operator& op, const machine::DeviceSpec& device, double efficiency);
/// Time in ps to get the operator going: none for the additions of a collective, which run inside its kernel.
[[nodiscard]] double launch(const Operator& op, Time launch_overhead);
/// Rounds up to whole picoseconds. More than simulated time can hold: KeyError.
[[nodiscard]] Time round_up(double picoseconds, const Operator& op, const machine::DeviceSpec& device);
[[nodiscard]] inline bool is_empty(const Operator& op) {
  return op.flops == 0 && op.bytes_read == 0 && op.bytes_written == 0;
}

}  // namespace cost
}  // namespace tessera::workload
