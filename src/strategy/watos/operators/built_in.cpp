#include <bit>

#include "operators.hpp"

namespace tessera::strategy::watos {

const std::vector<Operator>& operators() {
  static const std::vector<Operator> all = {vary_recomputation(), cross_recomputation(), vary_placement(), vary_pairs(),
                                            cross_pairs()};
  return all;
}

std::uint16_t nearest_set(const Problem& problem, std::uint64_t bits) {
  std::size_t best = 0;
  for (std::size_t set = 1; set < problem.sets.size(); ++set)
    if (std::popcount(problem.sets[set] ^ bits) < std::popcount(problem.sets[best] ^ bits)) best = set;
  return static_cast<std::uint16_t>(best);
}

std::vector<std::uint32_t> senders_of(const Problem& problem, const Solution& solution) {
  std::vector<std::uint32_t> senders;
  for (std::uint32_t stage = 0; stage < problem.count(); ++stage)
    if (to_lend(problem, stage, solution.sets[stage]) > 0) senders.push_back(stage);
  return senders;
}

}  // namespace tessera::strategy::watos
