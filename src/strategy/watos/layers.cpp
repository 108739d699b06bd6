#include "layers.hpp"

#include <algorithm>

#include "prediction.hpp"
#include "replica_sums.hpp"
#include "steps.hpp"

namespace tessera::strategy::watos {

std::vector<std::int64_t> balanced_layers(const NamedProblem& named, const Solution& solution) {
  const Problem& problem = named.problem;
  std::vector<Time> time, layer;
  std::vector<std::int64_t> layers(problem.count(), 1);
  std::int64_t left = -static_cast<std::int64_t>(problem.count());
  for (std::size_t stage = 0; stage < problem.count(); ++stage) {
    Time most = 0, once = 0;
    for (std::uint32_t replica = 0; replica < problem.replicas; ++replica) {
      const std::uint32_t pace = problem.places[solution.place(problem, stage, replica)].pace;
      const Time edges = problem.stages[stage].time[pace][0] - named.layers[stage] * named.layer_time[pace];
      once = std::max(once, named.layer_time[pace]);
      most = std::max(most, edges + named.layer_time[pace]);
    }
    time.push_back(most);
    layer.push_back(once);
    left += named.layers[stage];
  }
  for (; left > 0; --left) {
    std::size_t best = 0;
    for (std::size_t stage = 1; stage < time.size(); ++stage)
      if (time[stage] + layer[stage] < time[best] + layer[best]) best = stage;
    time[best] += layer[best];
    ++layers[best];
  }
  return layers;
}

std::optional<NamedProblem> Layers::with(const Cut& cut, const NamedProblem& like,
                                         const std::vector<std::int64_t>& layers) {
  const TablePointer table = with_cut(question_.table, cut, layers);
  if (!problem_with(question_.cut, *table, question_.job).empty()) return std::nullopt;
  const PipelineProfile profile = profile_with(question_.cut, *table, question_.job);
  if (!state_too_large(profile, question_.job).why.empty()) return std::nullopt;
  NamedProblem found = make_problem(profile, like.problem.places, like.problem.replicas, question_.job, pricing_);
  found.problem.start = like.problem.start;
  return found;
}

NamedProblem Layers::at(const Cut& cut, const NamedProblem& plain, const std::vector<std::uint16_t>& start) {
  NamedProblem found = plain;
  found.problem.start = start;
  const std::vector<std::int64_t> layers = balanced_layers(plain, at_start(found.problem));
  if (layers == plain.layers) return found;
  std::optional<NamedProblem> balanced = with(cut, found, layers);
  if (!balanced) return found;
  return pool_too_small(balanced->problem).why.empty() ? *std::move(balanced) : found;
}

void Layers::move_by_time(Candidate& candidate) {
  while (candidate.recomputed) {
    const NamedProblem& named = candidate.named;
    const Solution& now = *candidate.recomputed;
    const std::vector<Time> times = stage_times(named.problem, now, lend(named.problem, now).loans);
    const auto time = [&](std::size_t stage) { return times[stage]; };
    const auto with_one_more = [&](std::size_t stage) {
      return time(stage) + named.layer_time[named.problem.places[now.place(named.problem, stage)].pace];
    };
    std::size_t from = 0, to = 0;
    for (std::size_t stage = 1; stage < named.problem.count(); ++stage) {
      if (time(stage) > time(from)) from = stage;
      if (with_one_more(stage) < with_one_more(to)) to = stage;
    }
    if (from == to || named.layers[from] < 2) return;
    std::vector<std::int64_t> layers = named.layers;
    --layers[from];
    ++layers[to];
    std::optional<NamedProblem> moved = with(candidate.cut, named, layers);
    if (!moved) return;
    moved->problem.shared = named.problem.shared;
    moved->problem.over_joints = named.problem.over_joints;
    const std::optional<Solution> solution = recomputed(moved->problem);
    if (!solution || predicted(moved->problem, *solution) >= candidate.predicted) return;
    candidate.predicted = predicted(moved->problem, *solution);
    candidate.recomputed = solution;
    candidate.best = *solution;
    candidate.named = std::move(*moved);
  }
}

}  // namespace tessera::strategy::watos
