// A simulation that one rank does as fast as all of them.
#pragma once

#include "tessera/sim/simulate.hpp"

namespace tessera::sim {

/// Whether the first rank has simulated it all by itself, as simulate() with RanksUsed::automatic: it begins, and ends
/// it unless much is left after a while that all ranks would take a share of. All ranks call it; the rows are those of
/// the first one. Otherwise there is no result, and all of it is to be simulated.
[[nodiscard]] bool simulate_alone(const machine::Machine& machine, const program::Program& program,
                                  const workload::CostModel& cost, Communicator& comm, const SimulationOptions& options,
                                  SimulationResult& result);

}  // namespace tessera::sim
