// Op1: a stage runs one more of its sections again, or one less. The sets of a problem are those that nothing beats, so
// that this may be several sections at once; a step to the next set of the front, in either direction, is the other
// half of it, without which sets that differ in many sections could not be reached.
#include "operators.hpp"

namespace tessera::strategy::watos {
namespace {

std::optional<Solution> other_set(const Judge& judge, const Solution& solution, Draws& draws) {
  const Problem& problem = judge.problem();
  const std::size_t stage = draws.below(problem.count());
  const std::uint16_t now = solution.sets[stage];
  std::size_t set = now;
  if (draws.below(2) == 0) {
    constexpr std::size_t most_sections = 16;
    set = nearest_set(problem, problem.sets[now] ^ (std::uint64_t{1} << draws.below(most_sections)));
  } else {
    const bool up = draws.below(2) == 0;
    if (up ? now + 1U >= problem.sets.size() : now == 0) return std::nullopt;
    set = up ? now + 1U : now - 1U;
  }
  if (set == now) return std::nullopt;
  Solution found = solution;
  found.sets[stage] = static_cast<std::uint16_t>(set);
  return found;
}

}  // namespace

Operator vary_recomputation() {
  return {"vary-recomputation", "a stage runs more or less of its sections again", other_set};
}

}  // namespace tessera::strategy::watos
