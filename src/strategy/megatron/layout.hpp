// Which devices talk to which: groups and neighbours of every device.
#pragma once

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// Fills groups and, for every device that takes part, peers, group slots and the number of events.
void add_layout(const Cut& cut, const machine::Machine& machine, program::Program& program);

}  // namespace tessera::strategy::megatron
