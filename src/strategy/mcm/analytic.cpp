#include "analytic.hpp"

#include <algorithm>
#include <numeric>

namespace tessera::strategy::mcm {

Time time_on(const Package& package, NodeId node, ChipId chip) {
  return machine::slowed(package.times[package.reduced.node_of[node]], package.speeds[chip]);
}

std::vector<Time> loads(const Package& package, const Partition& partition) {
  std::vector<Time> sums(package.chips(), 0);
  for (NodeId node = 0; node < partition.size(); ++node)
    sums[partition[node]] += time_on(package, node, partition[node]);
  const std::vector<std::vector<ChipId>> copied = copies(package.reduced, partition);
  for (std::size_t i = 0; i < copied.size(); ++i) {
    for (const ChipId chip : copied[i])
      sums[chip] += machine::slowed(package.times[package.reduced.replicated[i]], package.speeds[chip]);
  }
  return sums;
}

Time analytic_interval(const Package& package, const Partition& partition) {
  const std::vector<Time> all = loads(package, partition);
  return *std::max_element(all.begin(), all.end());
}

Time analytic_latency(const Package& package, const Partition& partition) {
  const std::vector<Time> all = loads(package, partition);
  std::vector<std::vector<ChipId>> readers(all.size());
  for (const Edge& edge : package.reduced.problem.edges) {
    if (partition[edge.from] != partition[edge.to]) readers[partition[edge.from]].push_back(partition[edge.to]);
  }
  std::vector<Time> begin(all.size(), 0);
  Time last = 0;
  for (std::size_t chip = 0; chip < all.size(); ++chip) {  // data go to higher chips alone
    const Time end = begin[chip] + all[chip];
    for (const ChipId reader : readers[chip]) begin[reader] = std::max(begin[reader], end);
    last = std::max(last, end);
  }
  return last;
}

Time analytic_cost(const Package& package, const Partition& partition, Objective objective) {
  return objective == Objective::latency ? analytic_latency(package, partition) : analytic_interval(package, partition);
}

Time least_interval(const Package& package) {
  const std::vector<Time> times = solved_times(package);
  const Time all = std::accumulate(times.begin(), times.end(), Time{0});
  const double speed = std::accumulate(package.speeds.begin(), package.speeds.end(), 0.0);
  const double fastest = *std::max_element(package.speeds.begin(), package.speeds.end());
  const Time longest = machine::slowed(*std::max_element(times.begin(), times.end()), fastest);
  // Rounded down: no partition is below it.
  return std::max(longest, static_cast<Time>(static_cast<double>(all) / speed));
}

}  // namespace tessera::strategy::mcm
