// What the points of a sweep cost, and how they are shared out by that.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"
#include "tessera/experiment/estimate.hpp"
#include "tessera/experiment/run_sweep.hpp"

namespace tessera::experiment {
namespace {

constexpr double unknown = -1;  ///< until a search has found the plan

double cost_of(const Sweep& sweep, std::int64_t number) {
  config::Diagnostics diagnostics;
  try {
    const Point point = sweep.point(number);
    if (!point.refused.empty()) return 0;
    const Source source = sweep.source(point, diagnostics);
    if (!diagnostics.ok()) return 0;
    const auto experiment = build(*source.table, diagnostics, strategy::built_in_strategies(), source.files);
    if (!diagnostics.ok()) return 0;
    if (!experiment->open.empty()) return unknown;
    if (!program::check_program(experiment->plan.program, experiment->machine).empty()) return 0;
    const Range events = estimate(*experiment).events;
    return std::sqrt(std::max(1.0, events.least) * std::max(1.0, events.most));
  } catch (const Error&) {  // whoever runs the point says so
    return 0;
  }
}

}  // namespace

std::vector<double> costs_of(const Sweep& sweep, Communicator& comm, const std::function<bool()>& interrupted) {
  const auto points = sweep.points();
  std::vector<double> own;
  together(comm, [&] {
    for (std::int64_t i = comm.rank(); i < points; i += comm.size()) {
      if (interrupted && interrupted()) throw IoError("ended by a signal before any point was begun");
      own.push_back(cost_of(sweep, i));
    }
  });
  const auto all = all_gather(comm, own);
  std::vector<double> costs;
  for (std::int64_t i = 0; i < points; ++i)
    costs.push_back(all[static_cast<std::size_t>(i % comm.size())][static_cast<std::size_t>(i / comm.size())]);
  const double greatest = costs.empty() ? 0 : std::ranges::max(costs);
  for (double& cost : costs)
    if (cost == unknown) cost = std::max(1.0, greatest);
  return costs;
}

std::vector<std::int64_t> longest_first(const std::vector<double>& costs) {
  std::vector<std::int64_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::int64_t i) { return costs[static_cast<std::size_t>(i)]; });
  return order;
}

std::vector<std::int64_t> share_of(const std::vector<double>& costs, int index, int count) {
  // The longest that is left to whoever has the least; what costs nothing takes turns by the number of points.
  std::vector<std::pair<double, std::int64_t>> held(static_cast<std::size_t>(count), {0, 0});
  std::vector<std::int64_t> own;
  for (const std::int64_t point : longest_first(costs)) {
    const auto least = std::ranges::min_element(held);
    least->first += costs[static_cast<std::size_t>(point)];
    ++least->second;
    if (least - held.begin() == index - 1) own.push_back(point);
  }
  return own;
}

}  // namespace tessera::experiment
