// What devices mark: the interval of a program that repeats, and the ends of its phases.
#pragma once

#include <deque>

#include "sim/execution/device_state.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

/// Of the slowest device (program/steady.hpp); the same on all ranks. 0: no device marks two repeats.
[[nodiscard]] Time interval_of(const std::deque<OwnRecord>& records, Communicator& comm);
/// Of the program's phases, in their order; the same on all ranks.
[[nodiscard]] std::vector<results::PhaseRow> phases_of(const program::Program& program,
                                                       const std::deque<OwnRecord>& records, Communicator& comm);

}  // namespace tessera::sim
