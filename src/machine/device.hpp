// Reading [machine.device].
#pragma once

#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/machine/template.hpp"

namespace tessera::machine {

/// The table as it is written; peaks of 0 are unknown.
struct DeviceInput {
  using Peaks = PeakRates;
  Peaks peak;
  GpuSpec transaction;
  ArraySpec array;
  std::string name;
  BytesPerSecond memory_bandwidth;
  Bytes memory_capacity, memory_reserve, cache;
  std::int64_t cores = 1, clock = 0;
};

[[nodiscard]] const config::Schema<DeviceInput>& device_schema();
[[nodiscard]] const config::Schema<DeviceInput::Peaks>& peak_schema();
/// The same parameters under the name machine.gpu, for `tessera help`.
[[nodiscard]] const config::Schema<DeviceInput>& gpu_schema();

[[nodiscard]] DeviceSpec device_spec(const DeviceInput& input);

}  // namespace tessera::machine
