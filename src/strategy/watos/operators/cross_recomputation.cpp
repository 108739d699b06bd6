// Op2: two stages exchange what they run again, from one section on.
#include "operators.hpp"

namespace tessera::strategy::watos {
namespace {

std::optional<Solution> exchanged_sets(const Judge& judge, const Solution& solution, Draws& draws) {
  const Problem& problem = judge.problem();
  constexpr std::size_t most_sections = 16;
  const std::size_t a = draws.below(problem.count()), b = draws.below(problem.count());
  const std::uint64_t from = ~std::uint64_t{0} << draws.below(most_sections);
  const std::uint64_t bits_a = problem.sets[solution.sets[a]], bits_b = problem.sets[solution.sets[b]];
  Solution found = solution;
  found.sets[a] = nearest_set(problem, (bits_a & ~from) | (bits_b & from));
  found.sets[b] = nearest_set(problem, (bits_b & ~from) | (bits_a & from));
  if (found.sets == solution.sets) return std::nullopt;
  return found;
}

}  // namespace

Operator cross_recomputation() {
  return {"cross-recomputation", "two stages exchange what they run again, from one section on", exchanged_sets};
}

}  // namespace tessera::strategy::watos
