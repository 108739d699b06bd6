#include "steps.hpp"

#include <algorithm>

#include "allocation.hpp"
#include "gcmr.hpp"
#include "placement.hpp"

namespace tessera::strategy::watos {
namespace {

/// B a stage that rounding may take from a pool: loans are whole bytes.
constexpr std::int64_t rounding = 4096;

/// With the sets that GCMR chooses where the stages stand, and its pairs; nothing where memory does not suffice.
std::optional<Solution> coordinated_at(const Problem& problem, Solution solution) {
  const StageFronts all = fronts_of(problem, solution);
  StageFronts fronts;
  std::vector<std::vector<std::size_t>> sets;
  for (std::size_t stage = 0; stage < all.size(); ++stage) {
    fronts.emplace_back();
    sets.emplace_back();
    for (std::size_t i = 0; i < all[stage].size(); ++i) {
      if (all[stage][i].memory == impossible) continue;
      fronts.back().push_back(all[stage][i]);
      sets.back().push_back(problem.stages[stage].front[i]);
    }
    if (fronts.back().empty()) return std::nullopt;
  }
  for (std::int64_t reserve = 0; reserve <= problem.memory / 64; reserve = 2 * reserve + rounding) {
    const std::int64_t pool = -reserve * static_cast<std::int64_t>(problem.count());
    std::optional<Coordinated> choice = coordinated(fronts, pool);
    if (!choice) return std::nullopt;
    spend_rest(fronts, pool, *choice);
    for (std::size_t stage = 0; stage < fronts.size(); ++stage)
      solution.sets[stage] = static_cast<std::uint16_t>(sets[stage][choice->chosen[stage]]);
    solution.pairs = paired_by_amount(problem, solution);
    if (lend(problem, solution).is_enough) return solution;
  }
  return std::nullopt;
}

}  // namespace

Solution at_start(const Problem& problem) {
  Solution found;
  found.sets.assign(problem.count(), 0);
  found.places = problem.start;
  return found;
}

std::optional<Solution> scheduled(const Problem& problem) {
  Solution found = at_start(problem);
  for (std::size_t set = 0; set < problem.sets.size(); ++set) {
    std::ranges::fill(found.sets, static_cast<std::uint16_t>(set));
    const Lent lent = lend(problem, found);
    if (lent.is_enough && lent.loans.empty()) return found;
  }
  return std::nullopt;
}

std::optional<Solution> recomputed(const Problem& problem) { return coordinated_at(problem, at_start(problem)); }

std::optional<Solution> placed(const Problem& problem, const Judge& judge) {
  std::optional<Solution> found = recomputed(problem);
  if (!found) return found;
  constexpr int most_rounds = 4;
  for (int round = 0; round < most_rounds; ++round) {
    Solution next = *found;
    next.places = best_places(problem, next, judge);
    if (const auto again = coordinated_at(problem, next)) next = *again;
    next.pairs = paired_by_location(judge, next);
    const Score score = judge.score(next);
    if (!score.fits || score.fitness >= judge.score(*found).fitness) break;
    found = std::move(next);
  }
  return found;
}

}  // namespace tessera::strategy::watos
