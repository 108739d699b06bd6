// From a profile and places to numbers.
#pragma once

#include "pricing.hpp"
#include "problem.hpp"

namespace tessera::strategy::watos {

/// A problem, and what its sets are called in tables of the strategy that runs the plan.
struct NamedProblem {
  Problem problem;
  std::vector<std::vector<std::string>> sets;  ///< sections, or "none", "selective", "full"
  std::vector<std::int64_t> layers;            ///< by stage
  std::vector<Time> layer_time;                ///< ps of a micro-batch in a layer, forward and backward, by pace
};

/// Of a pipeline whose stages stand at some of these places, `replicas` of each. Sets that another one beats on every
/// stage, in memory and time, are left out, but for those with a name.
[[nodiscard]] NamedProblem make_problem(const PipelineProfile& profile, std::vector<Place> places,
                                        std::uint32_t replicas, const Job& job, Pricing& pricing);

}  // namespace tessera::strategy::watos
