#include "fitness.hpp"

#include <algorithm>

#include "prediction.hpp"

namespace tessera::strategy::watos {

Score Judge::score(const Solution& solution) const {
  Lent lent = lend(*problem_, solution);
  if (!lent.is_enough) return {};
  Score found{true, 0, std::move(lent.loans)};
  const Int128 cost = global_cost(*problem_, solution, found.loans, ways_);
  if (fitness_ == Fitness::product) {
    found.fitness = cost * slowest(*problem_, solution);
  } else {
    constexpr int bits = 62;
    found.fitness = (static_cast<Int128>(predicted(*problem_, solution)) << bits) +
                    std::min<Int128>(cost, (static_cast<Int128>(1) << bits) - 1);
  }
  return found;
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
