#include "first_order.hpp"

#include <algorithm>

#include "tessera/base/integers.hpp"

namespace tessera::strategy::watos {
namespace {

/// A set of a stage where that is the fastest.
struct SetCost {
  std::int64_t memory = 0;  ///< B that a die needs beyond what it has; less than 0: so much is left
  Time time = 0;            ///< ps of a micro-batch
};

/// Less memory for more time.
struct Exchange {
  std::int64_t saved = 0;  ///< B
  Time cost = 0;           ///< ps
};

/// Whether a byte costs less in one than in the other.
bool is_cheaper(const Exchange& a, const Exchange& b) { return Int128{a.cost} * b.saved < Int128{b.cost} * a.saved; }

std::vector<SetCost> points_of(const Problem& problem, std::size_t stage) {
  const StageProblem& one = problem.stages[stage];
  std::vector<SetCost> points;
  for (std::size_t set = 0; set < problem.sets.size(); ++set) {
    Time least = never;
    for (const std::vector<Time>& pace : one.time) least = std::min(least, pace[set]);
    points.push_back({one.fixed[set] + one.in_flight * one.kept[set] - problem.memory, least});
  }
  std::ranges::sort(points, [](const SetCost& a, const SetCost& b) {
    return a.time != b.time ? a.time < b.time : a.memory < b.memory;
  });
  return points;
}

/// From the fastest point to the smallest one along the lower convex hull: each step costs more a byte than the one
/// before.
std::vector<Exchange> hull(const std::vector<SetCost>& points) {
  std::vector<SetCost> corners;
  for (const SetCost& point : points) {
    if (!corners.empty() && point.memory >= corners.back().memory) continue;
    const auto step = [](const SetCost& from, const SetCost& to) {
      return Exchange{from.memory - to.memory, to.time - from.time};
    };
    while (corners.size() > 1 &&
           !is_cheaper(step(corners[corners.size() - 2], corners.back()), step(corners.back(), point)))
      corners.pop_back();
    corners.push_back(point);
  }
  std::vector<Exchange> steps;
  for (std::size_t i = 1; i < corners.size(); ++i)
    steps.push_back({corners[i - 1].memory - corners[i].memory, corners[i].time - corners[i - 1].time});
  return steps;
}

}  // namespace

FirstOrder first_order(const Problem& problem) {
  Int128 over = 0;
  std::vector<Exchange> steps;
  FirstOrder found;
  for (std::size_t stage = 0; stage < problem.count(); ++stage) {
    const std::vector<SetCost> points = points_of(problem, stage);
    over += points.front().memory;
    found.work += points.front().time;
    for (const Exchange& step : hull(points)) steps.push_back(step);
  }
  std::ranges::stable_sort(steps, is_cheaper);
  for (const Exchange& step : steps) {
    if (over <= 0) break;
    const std::int64_t saved = static_cast<std::int64_t>(std::min<Int128>(over, step.saved));
    found.again += static_cast<Time>(Int128{step.cost} * saved / step.saved);
    over -= saved;
  }
  found.fits = over <= 0;
  found.work += found.again;
  const auto depth = static_cast<std::int64_t>(problem.count());
  found.iteration = static_cast<Time>(Int128{found.work} * (problem.micro_batches + depth - 1) / depth) +
                    *std::ranges::min_element(problem.update) + problem.shared;
  return found;
}

}  // namespace tessera::strategy::watos
