#include "allocation.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace tessera::strategy::watos {
namespace {

struct Sides {
  std::vector<std::uint32_t> senders, helpers;  ///< by what they lend, and by what they have to spare, most first
};

Sides sides_of(const Problem& problem, const Solution& solution) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> lent, spare;
  for (std::uint32_t stage = 0; stage < problem.count(); ++stage) {
    const std::int64_t bytes = to_lend(problem, stage, solution.sets[stage]);
    const std::int64_t taken = demand(problem, stage, solution.sets[stage]);
    if (bytes > 0) lent.emplace_back(taken, stage);
    if (bytes == 0 && taken < 0) spare.emplace_back(-taken, stage);
  }
  const auto most_first = [](auto& all) {
    std::ranges::stable_sort(all, std::greater<>(), [](const auto& one) { return one.first; });
  };
  most_first(lent);
  most_first(spare);
  Sides sides;
  for (const auto& one : lent) sides.senders.push_back(one.second);
  for (const auto& one : spare) sides.helpers.push_back(one.second);
  return sides;
}

std::vector<Pair> used(const Problem& problem, Solution solution, std::vector<Pair> pairs) {
  solution.pairs = std::move(pairs);
  std::vector<Pair> found;
  for (const PairedBytes& loan : lend(problem, solution).loans) found.push_back(loan.pair);
  return found;
}

void add_new(std::vector<Pair>& pairs, const Pair& pair) {
  if (std::ranges::find(pairs, pair) == pairs.end()) pairs.push_back(pair);
}

std::vector<Pair> by_location(const Judge& judge, const Solution& solution) {
  const Sides sides = sides_of(judge.problem(), solution);
  std::vector<Pair> pairs;
  for (const std::uint32_t sender : sides.senders) {
    std::vector<std::pair<Int128, std::uint32_t>> queue;
    for (const std::uint32_t helper : sides.helpers)
      queue.emplace_back(judge.cost_of(solution, {sender, helper}), helper);
    std::ranges::sort(queue);
    for (const auto& [cost, helper] : queue) pairs.push_back({sender, helper});
  }
  return pairs;
}

}  // namespace

std::vector<Pair> paired_by_amount(const Problem& problem, const Solution& solution) {
  const Sides sides = sides_of(problem, solution);
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < std::min(sides.senders.size(), sides.helpers.size()); ++i)
    pairs.push_back({sides.senders[i], sides.helpers[i]});
  for (const std::uint32_t sender : sides.senders)
    for (const std::uint32_t helper : sides.helpers) add_new(pairs, {sender, helper});
  return used(problem, solution, std::move(pairs));
}

std::vector<Pair> paired_by_location(const Judge& judge, const Solution& solution) {
  return used(judge.problem(), solution, by_location(judge, solution));
}

std::vector<Pair> completed(const Judge& judge, const Solution& solution) {
  Lent lent = lend(judge.problem(), solution);
  std::vector<Pair> pairs;
  for (const PairedBytes& loan : lent.loans) pairs.push_back(loan.pair);
  if (lent.is_enough) return pairs;
  for (const Pair& pair : by_location(judge, solution)) add_new(pairs, pair);
  return used(judge.problem(), solution, std::move(pairs));
}

}  // namespace tessera::strategy::watos
