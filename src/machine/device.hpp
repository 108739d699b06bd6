// Reading [machine.device].
#pragma once

#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// The table as it is written; peaks of 0 are unknown.
struct DeviceInput {
  struct Peaks {
    std::int64_t fp64 = 0, fp32 = 0, tf32 = 0, fp16 = 0, bf16 = 0, fp8 = 0, int8 = 0;
  };
  Peaks peak;
  GpuSpec transaction;
  std::string name;
  std::int64_t memory_bandwidth = 0, memory_capacity = 0, cores = 1, cache = 0, clock = 0;
};

[[nodiscard]] const config::Schema<DeviceInput>& device_schema();
[[nodiscard]] const config::Schema<DeviceInput::Peaks>& peak_schema();
/// The same parameters under the name machine.gpu, for `tessera help`.
[[nodiscard]] const config::Schema<DeviceInput>& gpu_schema();

[[nodiscard]] DeviceSpec device_spec(const DeviceInput& input);

}  // namespace tessera::machine
