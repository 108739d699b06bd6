// Whether a simulation fits into the memory of the computer that it is to run on.
#pragma once

#include <string>

#include "tessera/base/comm.hpp"
#include "tessera/experiment/estimate.hpp"

namespace tessera::experiment {

/// Why ranks that need `bytes` each do not fit, `here` of them on this computer; empty where they may. Only what is
/// certain counts: half of the estimate.
[[nodiscard]] std::string does_not_fit(const Range& bytes, int here);

/// Rank 0's estimate (the others need none), where every rank has the memory for it; IoError on all ranks where one
/// has not, before anything is simulated. What cannot run at all is left to the simulation to refuse.
[[nodiscard]] Estimate estimate_where_it_can_run(const Experiment& experiment, Communicator& comm);

}  // namespace tessera::experiment
