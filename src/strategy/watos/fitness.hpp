// By what solutions are compared before anything is simulated.
#pragma once

#include <map>

#include "global_cost.hpp"
#include "problem.hpp"

namespace tessera::strategy::watos {

enum class Fitness : std::uint8_t {
  product,  ///< t_max x GlobalCost, the paper's (section IV-D)
  time,     ///< the predicted iteration; of equals GlobalCost
};

/// What is known of a solution.
struct Score {
  bool fits = false;  ///< otherwise nothing else is known
  Int128 fitness = 0;
  std::vector<PairedBytes> loans;
};

/// Scores of one problem's solutions, which it outlives. Not for two threads at once.
class Judge {
 public:
  Judge(const Problem& problem, Fitness fitness) : problem_(&problem), fitness_(fitness), ways_(problem) {}
  [[nodiscard]] Score score(const Solution& solution) const;
  /// What it costs to lend `bytes` from one stage to another where they stand, pipeline ways as in that solution: as in
  /// global_cost().
  [[nodiscard]] Int128 cost_of(const Solution& solution, const Pair& pair) const;
  [[nodiscard]] const Problem& problem() const { return *problem_; }

 private:
  [[nodiscard]] Time time_of(const Solution& solution, const std::vector<PairedBytes>& loans) const;

  const Problem* problem_;
  Fitness fitness_;
  mutable PipelineWays ways_;
  mutable std::map<std::vector<std::uint32_t>, Time> times_;  // predicted, of what lends nothing
};

}  // namespace tessera::strategy::watos
