// The simulation of parts that are alike (laws/fold/fold.hpp), from beginning to end.
#pragma once

#include <string>

#include "tessera/machine/machine.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::sim {

/// Whether parts have stood for others, and why not where that was asked for and might have been.
struct FoldTry {
  bool is_folded = false;
  std::string problem;
};

/// As simulate(), of a program that was checked; only what is folded has a result. Every rank simulates the same, and
/// has the results of some parts. KeyError: fold_facts(). That no part can stand for others is known before time zero,
/// since nothing is alike, or found out on the way: messages come at the same time, and other parts go on otherwise.
[[nodiscard]] FoldTry simulate_folded(const machine::Machine& machine, const program::Program& program,
                                      const workload::CostModel& cost, Communicator& comm,
                                      const SimulationOptions& options, SimulationResult& result);

}  // namespace tessera::sim
