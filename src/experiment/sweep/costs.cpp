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

PointCost cost_of(const Sweep& sweep, std::int64_t number) {
  config::Diagnostics diagnostics;
  try {
    const Point point = sweep.point(number);
    if (!point.refused.empty()) return {0, ExitCode::bad_input};
    const Source source = sweep.source(point, diagnostics);
    diagnostics.throw_if_errors();
    const auto experiment = build(*source.table, diagnostics, {}, source.files);
    diagnostics.throw_if_errors();
    if (!experiment->open.empty()) return {0, ExitCode::done, true};
    const program::Program& program = experiment->plan.program;
    if (!program::check_program(program, experiment->machine).empty()) return {0, ExitCode::infeasible};
    static_cast<void>(sim::refuse_memory(experiment->machine, program, experiment->simulation.allow_oversubscription));
    const Range events = estimate(*experiment).events;
    return {std::sqrt(std::max(1.0, events.least) * std::max(1.0, events.most))};
  } catch (const Error& error) {  // whoever runs the point says so
    return {0, error.code()};
  }
}

}  // namespace

std::vector<PointCost> costs_of(const Sweep& sweep, Communicator& comm, const std::function<bool()>& interrupted) {
  const auto points = sweep.points();
  std::vector<PointCost> own;
  together(comm, [&] {
    for (std::int64_t i = comm.rank(); i < points; i += comm.size()) {
      if (interrupted && interrupted()) throw IoError("ended by a signal before any point was begun");
      own.push_back(cost_of(sweep, i));
    }
  });
  const auto all = all_gather(comm, own);
  std::vector<PointCost> costs;
  for (std::int64_t i = 0; i < points; ++i)
    costs.push_back(all[static_cast<std::size_t>(i % comm.size())][static_cast<std::size_t>(i / comm.size())]);
  double greatest = 1;
  for (const PointCost& cost : costs) greatest = std::max(greatest, cost.events);
  for (PointCost& cost : costs)
    if (cost.searches) cost.events = greatest;
  return costs;
}

std::vector<std::int64_t> longest_first(const std::vector<PointCost>& costs) {
  std::vector<std::int64_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::int64_t i) { return costs[static_cast<std::size_t>(i)].events; });
  return order;
}

std::vector<std::int64_t> share_of(const std::vector<PointCost>& costs, int index, int count) {
  // The longest that is left to whoever has the least; what costs nothing takes turns by the number of points.
  std::vector<std::pair<double, std::int64_t>> held(static_cast<std::size_t>(count), {0, 0});
  std::vector<std::int64_t> own;
  for (const std::int64_t point : longest_first(costs)) {
    const auto least = std::ranges::min_element(held);
    least->first += costs[static_cast<std::size_t>(point)].events;
    ++least->second;
    if (least - held.begin() == index - 1) own.push_back(point);
  }
  return own;
}

}  // namespace tessera::experiment
