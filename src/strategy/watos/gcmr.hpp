// Which sections each stage runs again: globally coordinated, memory-efficient recomputation (GCMR; WATOS, algorithm
// 2). The memory of all dies is one pool, and the slowest stage is to be as fast as can be.
//
// The paper fills a table T[t, m] for amounts of memory m. What it minimises is a maximum, so that asking for each time
// what every stage needs at least finds the same: that is what the search does. The dynamic program stands beside it,
// exact (its states are those of the Pareto front alone), and tests hold them against each other.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "problem.hpp"

namespace tessera::strategy::watos {

/// What a stage may do.
struct StageOption {
  Time time = 0;            ///< ps of a micro-batch
  std::int64_t memory = 0;  ///< B of the pool; less than 0: it adds to it
};
/// Of each stage one at least; of no stage one that another one of it beats in both.
using StageFronts = std::vector<std::vector<StageOption>>;

struct Coordinated {
  std::vector<std::size_t> chosen;  ///< by stage, an option's index
  Time slowest = 0;                 ///< ps: t_max
};

/// The least t_max whose memory is at most `pool`; nothing where even the smallest options need more. Of options that
/// are fast enough each stage has the smallest.
[[nodiscard]] std::optional<Coordinated> coordinated(const StageFronts& stages, std::int64_t pool);
/// The same t_max, by the dynamic program of algorithm 2.
[[nodiscard]] std::optional<Coordinated> coordinated_by_table(const StageFronts& stages, std::int64_t pool);
/// What is left of the pool goes to stages whose time falls most for it: the others' bubbles get shorter at the
/// pipeline's ends.
void spend_rest(const StageFronts& stages, std::int64_t pool, Coordinated& choice);

/// Of sets that no other one of the stage beats, where the stages stand, on the slowest of a stage's replicas; with
/// what a set that has to lend is held up at least. One that cannot lend enough takes `impossible`.
[[nodiscard]] StageFronts fronts_of(const Problem& problem, const Solution& solution);

}  // namespace tessera::strategy::watos
