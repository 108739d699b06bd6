#include "fitness.hpp"

#include <algorithm>

#include "joints.hpp"
#include "prediction.hpp"

namespace tessera::strategy::watos {

Score Judge::score(const Solution& solution) const {
  Lent lent = lend(*problem_, solution);
  if (!lent.is_enough) return {};
  Score found{true, 0, std::move(lent.loans)};
  const Int128 cost = global_cost(*problem_, solution, found.loans, ways_);
  if (fitness_ == Fitness::product) {
    // What joints add to the sums, by micro-batch: else nothing would keep replicas on one grid.
    const Time at_joints = sums_of(*problem_, solution) - problem_->shared;
    found.fitness = cost * (slowest(*problem_, solution, found.loans) + at_joints / problem_->micro_batches);
  } else {
    constexpr int bits = 62;
    found.fitness = (static_cast<Int128>(time_of(solution, found.loans)) << bits) +
                    std::min<Int128>(cost, (static_cast<Int128>(1) << bits) - 1);
  }
  return found;
}

Time Judge::time_of(const Solution& solution, const std::vector<PairedBytes>& loans) const {
  if (!loans.empty()) return predicted(*problem_, solution, loans);
  std::vector<std::uint32_t> key(solution.sets.begin(), solution.sets.end());
  for (const std::uint16_t place : solution.places) key.push_back(problem_->places[place].pace);
  const auto [found, added] = times_.try_emplace(std::move(key), 0);
  const Time sums = sums_of(*problem_, solution);  // the only part that depends on more of places than their pace
  if (added) found->second = predicted(*problem_, solution) - sums;
  return found->second + sums;
}

Int128 Judge::cost_of(const Solution& solution, const Pair& pair) const {
  ways_.take(*problem_, solution);
  Int128 cost = 0;
  for (std::uint32_t replica = 0; replica < problem_->replicas; ++replica) {
    const Place& sender = problem_->places[solution.place(*problem_, pair.sender, replica)];
    const Place& helper = problem_->places[solution.place(*problem_, pair.helper, replica)];
    cost += static_cast<Int128>(distance(sender, helper)) * (2 + ways_.shared(sender, helper));
  }
  return cost;
}

}  // namespace tessera::strategy::watos
