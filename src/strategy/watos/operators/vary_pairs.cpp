// Op4: a sender has one helper more, the cheapest that it does not have, or one less. As printed that does not reach
// all ways to share helpers out: so any helper may be added as well, and at any place among the pairs, for they take
// what is left in their order. Each way to share out that no mixture of others equals is reached by some order.
#include <algorithm>

#include "operators.hpp"

namespace tessera::strategy::watos {
namespace {

using Pairs = std::vector<Pair>;

bool has(const Pairs& pairs, const Pair& pair) { return std::ranges::find(pairs, pair) != pairs.end(); }

/// Stages that have something to spare and do not help this sender yet.
std::vector<std::uint32_t> others(const Problem& problem, const Solution& solution, std::uint32_t sender) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t stage = 0; stage < problem.count(); ++stage)
    if (demand(problem, stage, solution.sets[stage]) < 0 && !has(solution.pairs, {sender, stage}))
      found.push_back(stage);
  return found;
}

std::uint32_t cheapest(const Judge& judge, const Solution& solution, std::uint32_t sender,
                       const std::vector<std::uint32_t>& helpers) {
  return *std::ranges::min_element(helpers, {}, [&](std::uint32_t helper) {
    return judge.cost_of(solution, {sender, helper});
  });
}

std::optional<Solution> other_pairs(const Judge& judge, const Solution& solution, Draws& draws) {
  const Problem& problem = judge.problem();
  const std::vector<std::uint32_t> senders = senders_of(problem, solution);
  if (senders.empty()) return std::nullopt;
  const std::uint32_t sender = senders[draws.below(senders.size())];
  Solution found = solution;
  Pairs& pairs = found.pairs;
  const std::size_t kind = draws.below(4);
  if (kind == 0) {  // one less, or one that comes later
    if (pairs.empty()) return std::nullopt;
    const auto at = pairs.begin() + static_cast<std::ptrdiff_t>(draws.below(pairs.size()));
    const Pair gone = *at;
    pairs.erase(at);
    if (draws.below(2) == 0) pairs.push_back(gone);
    return found;
  }
  const std::vector<std::uint32_t> helpers = others(problem, solution, sender);
  if (helpers.empty()) return std::nullopt;
  const std::uint32_t helper =
      kind == 1 ? helpers[draws.below(helpers.size())] : cheapest(judge, solution, sender, helpers);
  pairs.insert(pairs.begin() + static_cast<std::ptrdiff_t>(draws.below(pairs.size() + 1)), {sender, helper});
  return found;
}

}  // namespace

Operator vary_pairs() { return {"vary-pairs", "a sender has one helper more or less", other_pairs}; }

}  // namespace tessera::strategy::watos
