// Which host serves a device.
#pragma once

#include "tessera/program/program.hpp"

namespace tessera::strategy::megatron {

/// The live one that is the fewest links away, on a tie the first one; no_device where none lives.
[[nodiscard]] program::DeviceId nearest_host(const machine::Machine& machine, program::DeviceId device);

}  // namespace tessera::strategy::megatron
