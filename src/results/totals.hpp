// What one row says of all ranks: sums over devices, and the collectives of all of them.
#pragma once

#include <vector>

#include "tables.hpp"
#include "tessera/base/comm.hpp"

namespace tessera::results {

/// InternalError when a row names something that has no name, or lacks an activity. Later code relies on it.
void check_rows(const RunResults& results);

/// The same on every rank and for every spread of the devices. Every rank calls it. `results` outlives the row.
[[nodiscard]] SummaryRow total(const RunResults& results, std::uint64_t seed, Communicator& comm);

/// Sums by label, kind, algorithm and group size, in that order; on rank 0, empty elsewhere. Every rank calls it.
[[nodiscard]] std::vector<CollectiveRow> total_collectives(const std::vector<CollectiveRow>& own, Communicator& comm);

}  // namespace tessera::results
