// The simulation of replicas that are alike (fold.hpp), from beginning to end.
#pragma once

#include "tessera/machine/machine.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::sim {

/// As simulate(), of a program that was checked. Every rank simulates the same, and has the results of some replicas.
/// KeyError: fold_facts(), or ties between messages that go on otherwise in other replicas.
void simulate_folded(const machine::Machine& machine, const program::Program& program, const workload::CostModel& cost,
                     Communicator& comm, const SimulationOptions& options, SimulationResult& result);

}  // namespace tessera::sim
