// How long a collective takes at the least, whoever is the last to join.
#pragma once

#include "sim/execution/cost_table.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/machine/routes.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

/// Bytes by a link of that rate, rounded down.
[[nodiscard]] Time carried(std::int64_t bytes, std::int64_t rate);

/// A message, whatever else is under way.
struct LeastMessage {
  Time lead = 0;   ///< latencies, and its first packet on each link in front of the slowest one
  Time carry = 0;  ///< its bytes on the slowest link, where the next message of its sender and receiver waits
  Time tail = 0;   ///< its last packet on each link behind
};
[[nodiscard]] LeastMessage parts_of_message(const machine::Routes& routes, const machine::Connection& connection,
                                            std::int64_t bytes);
[[nodiscard]] Time least_message(const machine::Routes& routes, const machine::Connection& connection,
                                 std::int64_t bytes);

/// From the moment when the first member joins until the first one is done: as if all joined then, with messages that
/// meet none but those of the same sender and receiver; and no less than a port takes for what comes in over it.
[[nodiscard]] Time least_time(const program::Collective& collective, const program::Group& group,
                              const machine::Machine& machine, CostTables& costs);

}  // namespace tessera::sim
