#include "problem.hpp"

#include <algorithm>

#include "tessera/base/integers.hpp"

namespace tessera::strategy::watos {
namespace {

/// B that a die needs beyond what it has; less than 0: so much is left.
std::int64_t overflow(const Problem& problem, const StageProblem& stage, std::size_t set) {
  return stage.fixed[set] + stage.in_flight * stage.kept[set] - problem.memory;
}

}  // namespace

std::int64_t to_lend(const Problem& problem, std::size_t stage, std::size_t set) {
  const StageProblem& one = problem.stages[stage];
  const std::int64_t over = overflow(problem, one, set);
  if (over <= 0) return 0;
  const std::int64_t away = one.in_flight - one.resident;
  if (away <= 0) return impossible;
  const std::int64_t bytes = ceil_div(over, away);
  return bytes > one.kept[set] ? impossible : bytes;
}

std::int64_t demand(const Problem& problem, std::size_t stage, std::size_t set) {
  const StageProblem& one = problem.stages[stage];
  const std::int64_t bytes = to_lend(problem, stage, set);
  if (bytes == impossible) return impossible;
  return bytes > 0 ? bytes * one.at_once : overflow(problem, one, set);
}

Time stage_time(const Problem& problem, const Solution& solution, std::size_t stage) {
  Time most = 0;
  for (std::uint32_t replica = 0; replica < problem.replicas; ++replica) {
    const std::uint32_t pace = problem.places[solution.place(problem, stage, replica)].pace;
    most = std::max(most, problem.stages[stage].time[pace][solution.sets[stage]]);
  }
  return most;
}

Lent lend(const Problem& problem, const Solution& solution) {
  const std::size_t count = problem.count();
  Lent found;
  std::vector<std::int64_t> open(count), room(count);
  std::int64_t all_open = 0;
  for (std::size_t stage = 0; stage < count; ++stage) {
    open[stage] = to_lend(problem, stage, solution.sets[stage]);
    if (open[stage] == impossible) return found;
    room[stage] = open[stage] > 0 ? 0 : -demand(problem, stage, solution.sets[stage]);
    all_open += open[stage];
  }
  for (const Pair& pair : solution.pairs) {
    const std::int64_t at_once = problem.stages[pair.sender].at_once;
    const std::int64_t bytes = std::min(open[pair.sender], room[pair.helper] / at_once);
    if (bytes <= 0) continue;
    open[pair.sender] -= bytes;
    all_open -= bytes;
    room[pair.helper] -= bytes * at_once;
    found.loans.push_back({pair, bytes});
  }
  found.is_enough = all_open == 0;
  return found;
}

}  // namespace tessera::strategy::watos
