// From the results of what was simulated to those of all that it stands for.
#pragma once

#include "sim/laws/fold/fold.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/results/results.hpp"

namespace tessera::sim {

/// `results` are the same on every rank; afterwards each rank has those of some parts.
void unfold(const Fold& fold, const machine::Machine& machine, const Communicator& comm, results::RunResults& results);

/// Whether parts so many shifts behind the first ones have the same results as these.
[[nodiscard]] bool did_the_same(const Fold& fold, std::uint32_t shifts, const results::RunResults& first,
                                const results::RunResults& other);

}  // namespace tessera::sim
