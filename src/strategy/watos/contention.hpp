// What lending costs: links of a group that carry loans hold its collectives up.
//
// A loan is a message as long as all that a die lends of a micro-batch, and a collective of the group whose links it
// leaves over waits behind it; so on the helper. It is sent once there and once back a micro-batch. Dies of a tile that
// send to one side share the links of that side.
#pragma once

#include <vector>

#include "problem.hpp"

namespace tessera::strategy::watos {

/// ps of a micro-batch, by stage: twice the time that loans keep the busiest side's links, less what passes anyway
/// until the next collective. Loans that only pass through a tile are not counted.
[[nodiscard]] std::vector<Time> held_up(const Problem& problem, const Solution& solution,
                                        const std::vector<PairedBytes>& loans);

/// The same for a stage that lends so many bytes over its longest side, whoever takes them.
[[nodiscard]] Time held_up_at_least(const Problem& problem, std::size_t stage, const Place& place, std::int64_t bytes);

}  // namespace tessera::strategy::watos
