// The simulation of replicas that are alike (fold.hpp), from beginning to end.
#pragma once

#include <string>

#include "tessera/machine/machine.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::sim {

/// As simulate(), of a program that was checked. Every rank simulates the same, and has the results of some replicas.
/// KeyError: fold_facts(). Returns why it is found out on the way that replicas cannot stand for others, and then there
/// is no result: messages come at the same time, and other replicas go on otherwise. Empty: they can.
[[nodiscard]] std::string simulate_folded(const machine::Machine& machine, const program::Program& program,
                                          const workload::CostModel& cost, Communicator& comm,
                                          const SimulationOptions& options, SimulationResult& result);

}  // namespace tessera::sim
