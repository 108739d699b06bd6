// From the results of what was simulated to those of all that it stands for.
#pragma once

#include "sim/fold/fold.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/results/results.hpp"

namespace tessera::sim {

/// `results` are the same on every rank; afterwards each rank has those of some replicas.
void unfold(const Fold& fold, const machine::Machine& machine, const Communicator& comm, results::RunResults& results);

}  // namespace tessera::sim
