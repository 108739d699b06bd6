// What is known of a program without simulating it.
#pragma once

#include <vector>

#include "known.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/program/evaluator.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::sim {

/// Bytes that each link carries, of messages and collectives; those of kernels are left out. At most 2^63 - 1.
[[nodiscard]] std::vector<std::int64_t> bytes_by_link(const machine::Machine& machine, const program::Program& program);

/// Never above the simulated time: the most that a device computes or a link carries, and the longest way through the
/// program on which every message is alone on the network, and members of a collective wait for whose data they need;
/// and least_of().
[[nodiscard]] program::Evaluation lower_bound(const machine::Machine& machine, const program::Program& program,
                                              const workload::CostModel& cost, LeastTimes& known);

/// Messages on an idle network, collectives by their closed forms and reductions, kernels by their FLOP and bytes at
/// the machine's rates; no less than what a link carries.
[[nodiscard]] program::Evaluation estimate(const machine::Machine& machine, const program::Program& program,
                                           const workload::CostModel& cost);

}  // namespace tessera::sim
