// What searches evaluated, from one run to the next.
#pragma once

#include "tessera/experiment/experiment.hpp"
#include "tessera/program/search/evaluations.hpp"

namespace tessera::experiment {

/// What a search may use and adds to.
struct Kept {
  program::search::Memo memo;
  bool can_be_written = false;  ///< on rank 0: the file was read, or is not there yet
};

/// What the cache's folder, which is made where there is none, knows of this machine and cost model; nothing without a
/// folder, or a file that is whole. Rank 0 alone reads. No trouble with files ends a search: it is one line of warning
/// on rank 0.
[[nodiscard]] Kept read_cache(const Cache& cache, const config::Table& resolved, Communicator& comm,
                              config::Diagnostics& diagnostics);

/// Puts what any rank has evaluated into the folder; another job's file is whole or replaced. Trouble as above.
void write_cache(const Cache& cache, const config::Table& resolved, const Kept& kept, Communicator& comm,
                 config::Diagnostics& diagnostics);

/// Puts what the cost model has worked out on any rank into the folder, if it is news.
void write_costs(const Cache& cache, const config::Table& resolved, workload::CostModel& cost, Communicator& comm,
                 config::Diagnostics& diagnostics);

}  // namespace tessera::experiment
