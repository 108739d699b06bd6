// Every candidate of a search that proves its plan, as a table that sweeps have (results/points.hpp).
#pragma once

#include <string>

#include "tessera/experiment/experiment.hpp"
#include "tessera/results/points.hpp"

namespace tessera::experiment {

/// A row a candidate, in the order of the search's keys, which are the axes. Those that were simulated have their time,
/// memory and activities in the columns of /summary; all have what became of them (`fate`), and those that fit their
/// bound and estimate. Provenance: the experiment, and what is proven. InternalError where nothing was searched in that
/// way (Searched::report).
[[nodiscard]] results::PointsTable candidates_table(const Experiment& experiment, const std::string& given,
                                                    const config::Table& resolved, const std::string& version);

/// Mean of the devices that take part, to the nearest picosecond.
[[nodiscard]] Time mean_busy(const program::Evaluation& run, program::Activity activity);

/// Model FLOPs over what the devices that take part could have done; 0: the machine states no peak of the datatype.
[[nodiscard]] double model_flops_utilisation(const Experiment& experiment, const program::Evaluation& run);

/// "nothing is faster", or how much faster what is left might be.
[[nodiscard]] std::string proven_text(const program::search::FastestReport& report);

}  // namespace tessera::experiment
