#include "genome.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "allocation.hpp"
#include "operators.hpp"

namespace tessera::strategy::watos {
namespace {

constexpr int most_tries = 4;

/// With as many pairs as it takes; nothing where even all do not suffice.
std::optional<Solution> made_to_fit(const Judge& judge, Solution solution) {
  solution.pairs = completed(judge, solution);
  if (!lend(judge.problem(), solution).is_enough) return std::nullopt;
  return solution;
}

}  // namespace

Genome Genome::neighbour(std::uint64_t key) const {
  Draws draws(key);
  for (int tried = 0; tried < most_tries; ++tried) {
    const Operator& one = operators()[draws.below(operators().size())];
    std::optional<Solution> other = one.apply(*judge_, solution_, draws);
    if (other) other = made_to_fit(*judge_, std::move(*other));
    if (other) return {*judge_, std::move(*other)};
  }
  return *this;
}

Genome Genome::crossed(const Genome& other, std::uint64_t key) const {
  Draws draws(key);
  Solution child = solution_;
  for (std::size_t stage = draws.below(child.sets.size()); stage < child.sets.size(); ++stage)
    child.sets[stage] = other.solution_.sets[stage];
  std::optional<Solution> fitting = made_to_fit(*judge_, std::move(child));
  return fitting ? Genome(*judge_, std::move(*fitting)) : *this;
}

std::string Genome::text() const {
  std::vector<std::string> pairs;
  for (const Pair& pair : solution_.pairs) pairs.push_back(fmt::format("{}>{}", pair.sender, pair.helper));
  return fmt::format("sets {}, places {}, pairs {}", fmt::join(solution_.sets, " "), fmt::join(solution_.places, " "),
                     fmt::join(pairs, " "));
}

}  // namespace tessera::strategy::watos
