// What the rows of a sweep come to.
#pragma once

#include <vector>

#include "claims.hpp"
#include "tessera/experiment/run_sweep.hpp"
#include "tessera/results/sweep_folder.hpp"

namespace tessera::experiment::sweep {

[[nodiscard]] Fate fate_of(const results::SweepRow& row);

/// Of the rows of `wanted` points of a sweep that has `points`.
[[nodiscard]] SweepOutcome outcome_of(const std::vector<results::SweepRow>& rows, std::int64_t points,
                                      const std::vector<std::int64_t>& wanted);

}  // namespace tessera::experiment::sweep
