// What is known of a program in no time: classes of devices that do the same are followed, not devices.
#pragma once

#include "known.hpp"
#include "sim/execution/cost_table.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

/// Never above the simulated time. Of each class of devices the first member is followed: what it computes takes the
/// fastest member's time, messages and collectives take as long as on an idle network at the least, and what runs
/// beside the main stream is free until something waits for it. 0 where classes cannot be told from each other.
[[nodiscard]] Time least_of(const machine::Machine& machine, const program::Program& program, CostTables& costs,
                            LeastTimes& known);

/// Collectives by their closed forms, messages on an idle network; 0 where somebody waits for ever.
[[nodiscard]] Time estimate_of(const machine::Machine& machine, const program::Program& program, CostTables& costs);

}  // namespace tessera::sim
