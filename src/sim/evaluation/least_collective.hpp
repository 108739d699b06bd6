// How long a collective takes at the least, whoever is the last to join.
#pragma once

#include "sim/execution/cost_table.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

/// Bytes by a link of that rate, rounded down.
[[nodiscard]] Time carried(std::int64_t bytes, std::int64_t rate);

/// Of a message, whatever else is under way: latencies, its bytes on the slowest link, and a packet on each other one.
[[nodiscard]] Time least_message(const machine::Machine& machine, program::DeviceId from, program::DeviceId to,
                                 std::int64_t bytes);

/// From the moment when the last member joins until the last one is done, with messages that meet no other: the longest
/// way through the steps that begins at the member from which it is the shortest. Members that joined earlier may have
/// done all that does not need the last one.
[[nodiscard]] Time least_time(const program::Collective& collective, const program::Group& group,
                              const machine::Machine& machine, CostTables& costs);

}  // namespace tessera::sim
