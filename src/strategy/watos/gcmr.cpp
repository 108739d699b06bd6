#include "gcmr.hpp"

#include <algorithm>

#include "contention.hpp"

namespace tessera::strategy::watos {
namespace {

/// The smallest option that takes at most `time`; the number of options where none does.
std::size_t smallest_within(const std::vector<StageOption>& options, Time time) {
  std::size_t found = options.size();
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i].time > time) continue;
    if (found == options.size() || options[i].memory < options[found].memory) found = i;
  }
  return found;
}

std::optional<Coordinated> within(const StageFronts& stages, std::int64_t pool, Time time) {
  Coordinated found;
  Int128 memory = 0;
  for (const std::vector<StageOption>& options : stages) {
    const std::size_t one = smallest_within(options, time);
    if (one == options.size()) return std::nullopt;
    memory += options[one].memory;
    found.slowest = std::max(found.slowest, options[one].time);
    found.chosen.push_back(one);
  }
  if (memory > pool) return std::nullopt;
  return found;
}

/// A state of the table: what the stages from one on need, and how slow the slowest of them is.
struct State {
  Int128 memory = 0;
  Time slowest = 0;
  std::size_t option = 0, behind = 0;  ///< of this stage, and the state of the stages behind it
};

/// Those that no other one beats in both, by memory.
std::vector<State> unbeaten(std::vector<State> states) {
  std::ranges::sort(states, [](const State& a, const State& b) {
    return a.memory != b.memory ? a.memory < b.memory : a.slowest < b.slowest;
  });
  std::vector<State> front;
  for (const State& state : states)
    if (front.empty() || state.slowest < front.back().slowest) front.push_back(state);
  return front;
}

}  // namespace

std::optional<Coordinated> coordinated(const StageFronts& stages, std::int64_t pool) {
  std::vector<Time> times;
  for (const auto& options : stages)
    for (const StageOption& option : options) times.push_back(option.time);
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  const auto fits = [&](Time time) { return within(stages, pool, time).has_value(); };
  const auto least = std::partition_point(times.begin(), times.end(), [&](Time time) { return !fits(time); });
  return least == times.end() ? std::nullopt : within(stages, pool, *least);
}

std::optional<Coordinated> coordinated_by_table(const StageFronts& stages, std::int64_t pool) {
  std::vector<std::vector<State>> table(stages.size() + 1);
  table.back() = {State{}};
  for (std::size_t stage = stages.size(); stage-- > 0;) {
    std::vector<State> all;
    for (std::size_t option = 0; option < stages[stage].size(); ++option) {
      const StageOption& one = stages[stage][option];
      for (std::size_t behind = 0; behind < table[stage + 1].size(); ++behind) {
        const State& rest = table[stage + 1][behind];
        all.push_back({rest.memory + one.memory, std::max(rest.slowest, one.time), option, behind});
      }
    }
    table[stage] = unbeaten(std::move(all));
  }
  // By memory, so that of those that fit the last one is the fastest.
  const auto end = std::ranges::partition_point(table[0], [&](const State& state) { return state.memory <= pool; });
  if (end == table[0].begin()) return std::nullopt;
  auto at = static_cast<std::size_t>(end - table[0].begin()) - 1;
  Coordinated found;
  found.slowest = table[0][at].slowest;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) {
    found.chosen.push_back(table[stage][at].option);
    at = table[stage][at].behind;
  }
  return found;
}

void spend_rest(const StageFronts& stages, std::int64_t pool, Coordinated& choice) {
  Int128 left = pool;
  for (std::size_t stage = 0; stage < stages.size(); ++stage) left -= stages[stage][choice.chosen[stage]].memory;
  while (true) {
    double most = 0;
    std::size_t best_stage = 0, best_option = 0;
    for (std::size_t stage = 0; stage < stages.size(); ++stage) {
      const StageOption& now = stages[stage][choice.chosen[stage]];
      for (std::size_t option = 0; option < stages[stage].size(); ++option) {
        const StageOption& other = stages[stage][option];
        const std::int64_t more = other.memory - now.memory;
        if (other.time >= now.time || more > left) continue;
        const double gain =
            static_cast<double>(now.time - other.time) / static_cast<double>(std::max<std::int64_t>(more, 1));
        if (gain <= most) continue;
        most = gain;
        best_stage = stage;
        best_option = option;
      }
    }
    if (most == 0) return;
    left -= stages[best_stage][best_option].memory - stages[best_stage][choice.chosen[best_stage]].memory;
    choice.chosen[best_stage] = best_option;
  }
}

StageFronts fronts_of(const Problem& problem, const Solution& solution) {
  StageFronts fronts;
  Solution with_set = solution;
  for (std::size_t stage = 0; stage < problem.count(); ++stage) {
    const Place& place = problem.places[solution.place(problem, stage)];
    std::vector<StageOption> options;
    for (const std::size_t set : problem.stages[stage].front) {
      with_set.sets[stage] = static_cast<std::uint16_t>(set);
      const std::int64_t bytes = to_lend(problem, stage, set);
      const Time waiting = bytes == impossible ? 0 : held_up_at_least(problem, stage, place, bytes);
      options.push_back({stage_time(problem, with_set, stage) + waiting, demand(problem, stage, set)});
    }
    fronts.push_back(std::move(options));
  }
  return fronts;
}

}  // namespace tessera::strategy::watos
