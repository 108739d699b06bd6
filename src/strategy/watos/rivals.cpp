#include <fmt/format.h>
#include <algorithm>

#include "contenders.hpp"
#include "placement.hpp"
#include "prediction.hpp"

namespace tessera::strategy::watos {
namespace {

/// The sets that Megatron knows, by number, the fastest first; one that others beat on every stage is not among them.
std::vector<std::uint16_t> megatron_sets(const NamedProblem& named) {
  std::vector<std::uint16_t> found;
  for (std::size_t set = 0; set < named.sets.size(); ++set)
    for (const char* name : {"none", "selective", "full"})
      if (named.sets[set] == std::vector<std::string>{name}) found.push_back(static_cast<std::uint16_t>(set));
  return found;
}

bool fits_alone(const Problem& problem, const Solution& solution) {
  const Lent lent = lend(problem, solution);
  return lent.is_enough && lent.loans.empty();
}

/// A plan, and which set its stages run again.
struct Uniform {
  Contender contender;
  std::string set;
};

/// Whether Megatron could cut a candidate so: in one dimension, on all live dies, and it has been profiled.
bool is_megatron(const Candidate& one) {
  return one.left_out == 0 && !one.plain.problem.stages.empty() && one.cut.carrier != Carrier::both_sides;
}

/// Of one candidate, along both serpentines, with the least recomputation that fits.
std::vector<Uniform> uniform_plans(const std::vector<Candidate>& candidates, std::size_t number, const char* origin) {
  const Candidate& candidate = candidates[number];
  const Problem& problem = candidate.plain.problem;
  std::vector<Uniform> found;
  const auto orders = serpentines(problem);
  constexpr std::size_t both_ways = 2;
  for (std::size_t order = 0; order < both_ways; ++order) {
    Solution solution;
    solution.places = orders[order];
    for (const std::uint16_t set : megatron_sets(candidate.plain)) {
      solution.sets.assign(problem.count(), set);
      if (!fits_alone(problem, solution)) continue;
      Uniform one{contender_of(candidate, candidate.plain, solution, origin, nullptr),
                  candidate.plain.sets[set].front()};
      one.contender.text += fmt::format(", {}, {}", one.set, order == 0 ? "along rows" : "down columns");
      found.push_back(std::move(one));
      break;
    }
  }
  return found;
}

constexpr std::int64_t dies_of_a_node = 8;

/// The cut of the rule: nothing where none fits.
std::optional<Cut> ruled_cut(const std::vector<Candidate>& candidates) {
  std::optional<Cut> best;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& one = candidates[i];
    if (!is_megatron(one) || one.cut.tensor > dies_of_a_node) continue;
    if (uniform_plans(candidates, i, by_rule).empty()) continue;
    const auto is_better = [&](const Cut& a, const Cut& b) {
      if (a.tensor != b.tensor) return a.tensor > b.tensor;
      return a.devices() != b.devices() ? a.devices() > b.devices() : a.pipeline < b.pipeline;
    };
    if (!best || is_better(one.cut, *best)) best = one.cut;
  }
  return best;
}

}  // namespace

std::vector<Contender> rivals(const std::vector<Candidate>& candidates, std::size_t best) {
  std::vector<Contender> found, others;
  const std::optional<Cut> ruled = ruled_cut(candidates);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!is_megatron(candidates[i])) continue;
    for (Uniform& one : uniform_plans(candidates, i, candidates[i].cut == ruled ? by_rule : at_best)) {
      const bool is_ruled = one.contender.origin == by_rule;
      (is_ruled ? found : others).push_back(std::move(one.contender));
    }
  }
  std::ranges::stable_sort(found, {}, &Contender::predicted);
  std::ranges::stable_sort(others, {}, &Contender::predicted);
  if (others.size() > best) others.resize(best);
  found.insert(found.end(), others.begin(), others.end());
  return found;
}

}  // namespace tessera::strategy::watos
