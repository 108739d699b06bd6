// What a run's result file holds beside the big tables.
#pragma once

#include <vector>

#include "h5/file.hpp"
#include "tables.hpp"
#include "tessera/results/results.hpp"

namespace tessera::results {

/// The attributes of the file, /summary, /collectives, /plan, /names, /provenance, and what a search leaves.
void add_run(h5::File& file, const SummaryRow& summary, const std::vector<CollectiveRow>& collectives,
             const Provenance& provenance);

/// The group /provenance.
void add_provenance(h5::File& file, const Provenance& provenance);

/// The attributes of a search's file, /search and /provenance.
void add_history(h5::File& file, const RunResults& results, const Provenance& provenance);

}  // namespace tessera::results
