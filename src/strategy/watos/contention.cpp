#include "contention.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace tessera::strategy::watos {
namespace {

enum Side : std::uint8_t { left, right, top, bottom, sides };

/// Towards which side of a place another one lies.
Side side_towards(const Place& from, const Place& to) {
  if (std::abs(to.x - from.x) >= std::abs(to.y - from.y)) return to.x > from.x ? right : left;
  return to.y > from.y ? bottom : top;
}

/// Dies of a place that share a link of a side: those of a row, or of a column.
std::int64_t sharing(const Place& place, Side side) {
  return side == left || side == right ? place.columns : place.rows;
}

Time carried(const Problem& problem, std::int64_t bytes, std::int64_t dies) {
  return static_cast<Time>(static_cast<Int128>(bytes) * dies * problem.per_mebibyte / mebibyte);
}

Time there_and_back(const StageProblem& stage, Time busy) { return 2 * std::max<Time>(0, busy - stage.until_next); }

}  // namespace

std::vector<Time> held_up(const Problem& problem, const Solution& solution, const std::vector<PairedBytes>& loans) {
  std::vector<Time> most(problem.count());
  if (loans.empty() || problem.per_mebibyte == 0) return most;
  std::vector<std::array<Time, sides>> busy(problem.count());
  for (std::uint32_t replica = 0; replica < problem.replicas; ++replica) {
    for (auto& one : busy) one.fill(0);
    const auto add = [&](std::size_t stage, std::size_t other, std::int64_t bytes) {
      const Place& here = problem.places[solution.place(problem, stage, replica)];
      const Side side = side_towards(here, problem.places[solution.place(problem, other, replica)]);
      busy[stage].at(side) += carried(problem, bytes, sharing(here, side));
    };
    for (const PairedBytes& loan : loans) {
      add(loan.pair.sender, loan.pair.helper, loan.bytes);
      add(loan.pair.helper, loan.pair.sender, loan.bytes);
    }
    for (std::size_t stage = 0; stage < problem.count(); ++stage)
      most[stage] =
          std::max(most[stage], there_and_back(problem.stages[stage], *std::ranges::max_element(busy[stage])));
  }
  return most;
}

Time held_up_at_least(const Problem& problem, std::size_t stage, const Place& place, std::int64_t bytes) {
  const std::int64_t dies = std::min(sharing(place, left), sharing(place, top));
  return there_and_back(problem.stages[stage], carried(problem, bytes, dies));
}

}  // namespace tessera::strategy::watos
