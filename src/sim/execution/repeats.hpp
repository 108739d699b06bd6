// When what a program repeats was over on all devices.
#pragma once

#include <deque>
#include <vector>

#include "sim/execution/device_state.hpp"
#include "tessera/base/comm.hpp"

namespace tessera::sim {

/// By repeat, the latest of all devices' marks; the same on all ranks. Empty: no device marks any.
[[nodiscard]] std::vector<Time> ends_of_repeats(const std::deque<DeviceRecord>& records, Communicator& comm);

}  // namespace tessera::sim
