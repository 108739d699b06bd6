// Plans that are simulated: those of the search, of its steps, and of rivals.
#pragma once

#include <string>
#include <vector>

#include "candidates.hpp"

namespace tessera::strategy::watos {

struct Contender {
  std::string text;    ///< cut, tile, and what else tells it from others
  std::string origin;  ///< the step that found it, or whose rules it follows
  TablePointer keys;   ///< what it adds to the experiment's table
  Time predicted = 0;
  bool is_certain = false;  ///< it is simulated whatever others do
};

/// Of one of the candidate's problems. `wafer`: loans are dealt out die by die there, and what goes between stages
/// takes ways of its own (section IV-E-2); null: dies of a stage lend alike, and all takes the machine's ways.
[[nodiscard]] Contender contender_of(const Candidate& candidate, const NamedProblem& named, const Solution& solution,
                                     std::string origin, const machine::Machine* wafer);

/// The origin of plans by Megatron's rules: tensor parallelism fills a node of GPUs, eight at most; of what leaves
/// the fewest dies idle the pipeline is as short as fits; the least recomputation that fits, of none, selective and
/// full, on all stages.
inline constexpr const char* by_rule = "MG-wafer (a)";
/// And of the best cut that such plans have.
inline constexpr const char* at_best = "MG-wafer (b)";

/// Plans of Megatron on the wafer: none lends, all stages run the same again, and they stand along serpentines by rows
/// and down columns, in tiles of every shape. By rule all; at their best so many as are predicted to be the fastest.
[[nodiscard]] std::vector<Contender> rivals(const std::vector<Candidate>& candidates, std::size_t best);

/// Plans drawn at random, keyed by the job's seed: a candidate that is not pruned, a set of each stage, places, pairs.
[[nodiscard]] std::vector<Contender> random_plans(const std::vector<Candidate>& candidates, const Job& job,
                                                  std::int64_t count);

}  // namespace tessera::strategy::watos
