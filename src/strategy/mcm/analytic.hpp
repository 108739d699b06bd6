// The paper's analytical model (section 5.1): a chip takes the sum of its nodes' times, an interval is the most loaded
// chip's. No transfers, no memory.
#pragma once

#include <vector>

#include "options.hpp"
#include "package.hpp"

namespace tessera::strategy::mcm {

/// By chip: times of its nodes and of the copies that it makes of replicated ones.
[[nodiscard]] std::vector<Time> loads(const Package& package, const Partition& partition);

/// The most loaded chip's; and of one input that finds the package empty: the longest way through chips.
[[nodiscard]] Time analytic_interval(const Package& package, const Partition& partition);
[[nodiscard]] Time analytic_latency(const Package& package, const Partition& partition);

/// The one that is to be small.
[[nodiscard]] Time analytic_cost(const Package& package, const Partition& partition, Objective objective);

/// No partition has a shorter interval: all of the work spread evenly over all chips, or the longest node.
[[nodiscard]] Time least_interval(const Package& package);

/// Of a node of the problem.
[[nodiscard]] Time time_on(const Package& package, NodeId node, ChipId chip);

}  // namespace tessera::strategy::mcm
