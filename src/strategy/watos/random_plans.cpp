#include <algorithm>
#include <numeric>

#include "allocation.hpp"
#include "contenders.hpp"
#include "tessera/base/random.hpp"

namespace tessera::strategy::watos {
namespace {

/// Nothing where what was drawn does not fit.
std::optional<Solution> drawn(const Candidate& candidate, const KeyedRandom& random) {
  const Problem& problem = candidate.named.problem;
  Solution found;
  std::uint64_t next = 0;
  for (const StageProblem& stage : problem.stages)
    found.sets.push_back(static_cast<std::uint16_t>(stage.front[random.below(next++, stage.front.size())]));
  std::vector<std::uint16_t> places(problem.places.size());
  std::iota(places.begin(), places.end(), std::uint16_t{0});
  shuffle(places, KeyedRandom(random.bits(next++), random_stream("watos: places")));
  places.resize(problem.count() * problem.replicas);
  found.places = std::move(places);
  for (std::uint32_t sender = 0; sender < problem.count(); ++sender)
    for (std::uint32_t helper = 0; helper < problem.count(); ++helper)
      if (sender != helper) found.pairs.push_back({sender, helper});
  shuffle(found.pairs, KeyedRandom(random.bits(next++), random_stream("watos: pairs")));
  found.pairs = completed(Judge(problem, Fitness::product), found);
  if (!lend(problem, found).is_enough) return std::nullopt;
  return found;
}

}  // namespace

std::vector<Contender> random_plans(const std::vector<Candidate>& candidates, const Job& job, std::int64_t count) {
  std::vector<std::size_t> usable;
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (candidates[i].pruned.empty()) usable.push_back(i);
  std::vector<Contender> found;
  constexpr std::int64_t tries = 20;  // of which most fit
  const KeyedRandom keys(job.seed, random_stream("watos: random plans"));
  for (std::int64_t i = 0; i < tries * count && static_cast<std::int64_t>(found.size()) < count && !usable.empty();
       ++i) {
    const KeyedRandom random(keys.bits(static_cast<std::uint64_t>(i)), random_stream("watos: random plan"));
    const std::size_t which = usable[random.below(~std::uint64_t{0}, usable.size())];
    const std::optional<Solution> solution = drawn(candidates[which], random);
    if (!solution) continue;
    found.push_back(contender_of(candidates[which], candidates[which].named, *solution, "random", &job.machine));
    found.back().is_certain = true;
  }
  return found;
}

}  // namespace tessera::strategy::watos
