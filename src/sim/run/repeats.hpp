// What devices mark: the interval of a program that repeats.
#pragma once

#include <deque>

#include "sim/execution/device_state.hpp"
#include "tessera/base/comm.hpp"

namespace tessera::sim {

/// Of the slowest device (program/steady.hpp); the same on all ranks. 0: no device marks two repeats.
[[nodiscard]] Time interval_of(const std::deque<OwnRecord>& records, Communicator& comm);

}  // namespace tessera::sim
