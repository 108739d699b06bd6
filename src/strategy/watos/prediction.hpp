// How long an iteration of a solution takes, by the pipeline's own recurrence: for ranking what is not simulated yet.
#pragma once

#include "problem.hpp"

namespace tessera::strategy::watos {

/// ps of a micro-batch on each stage, with what loans hold up.
[[nodiscard]] std::vector<Time> stage_times(const Problem& problem, const Solution& solution,
                                            const std::vector<PairedBytes>& loans);
/// ps of a micro-batch on the slowest one: t_max.
[[nodiscard]] Time slowest(const Problem& problem, const Solution& solution, const std::vector<PairedBytes>& loans);

/// ps of an iteration. 1F1B pass by pass, messages between stages at Problem::hop, update and sums behind it.
/// Micro-batches beyond three times the pipeline's depth follow at the pace of those in the middle.
[[nodiscard]] Time predicted(const Problem& problem, const Solution& solution, const std::vector<PairedBytes>& loans);
/// With the loans of the solution.
[[nodiscard]] Time predicted(const Problem& problem, const Solution& solution);

}  // namespace tessera::strategy::watos
