// What searches measured, from one run to the next.
#pragma once

#include "tessera/experiment/experiment.hpp"
#include "tessera/program/measurements.hpp"

namespace tessera::experiment {

/// What the cache's folder, which is made where there is none, knows of this machine, cost model and collectives;
/// nothing without a folder, or a file that is whole. Rank 0 alone reads. IoError on every rank.
[[nodiscard]] program::Measurements read_cache(const Cache& cache, const config::Table& resolved, Communicator& comm);

/// Puts what any rank has measured into the folder; another job's file is whole or replaced. IoError on every rank.
void write_cache(const Cache& cache, const config::Table& resolved, const program::Measurements& measured,
                 Communicator& comm);

}  // namespace tessera::experiment
