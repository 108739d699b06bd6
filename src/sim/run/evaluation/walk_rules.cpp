#include "walk_rules.hpp"

#include <algorithm>
#include <cmath>

#include "least_collective.hpp"
#include "tessera/base/integers.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/message_time.hpp"

namespace tessera::sim {
namespace {

using program::CollectiveKind;
using program::DeviceId;
using program::GroupId;

Time rounded(double ps) { return ps < static_cast<double>(latest) ? static_cast<Time>(std::floor(ps)) : never; }

/// The bytes of whole elements are so many that every member holds some.
bool all_hold_some(const program::Collective& collective, const program::Group& group) {
  return collective.bytes / collective.element >= static_cast<std::int64_t>(group.members.size());
}

/// Of the first member, on the slowest.
Time reductions(const program::CollectiveAlgorithm& algorithm, const program::CollectiveCall& call,
                const program::Group& group, const machine::Machine& machine, CostTables& tables) {
  double slowest = 1;
  for (const DeviceId member : group.members) slowest = std::min(slowest, machine.speed[member]);
  CostTable& costs = tables.at_speed(slowest);
  std::vector<Time> by_strand(algorithm.strands(call), 0);
  program::for_all_steps(algorithm, call, [&](const program::CollectiveCall& strand, const program::Step& step) {
    Time& sum = by_strand[strand.strand];
    sum = saturating_add(sum, costs.reduction(step.reduce * static_cast<std::int64_t>(by_strand.size())));
  });
  return by_strand.empty() ? 0 : std::ranges::max(by_strand);
}

}  // namespace

Time CollectiveTimes::operator()(std::uint32_t index, GroupId group) {
  const auto [found, added] = known_.try_emplace({index, group}, 0);
  if (added) found->second = find(program_.collectives[index], program_.groups[group]);
  return found->second;
}

Time CollectiveTimes::find(const program::Collective& collective, const program::Group& group) {
  if (group.members.size() < 2) return 0;
  const program::CollectiveCall call = program::make_call(collective, group, 0, machine_);
  const program::CollectiveAlgorithm& algorithm = program::algorithm_of(call);
  const Time sent = rounded(program::time_on_wire(call));
  return saturating_add(sent, reductions(algorithm, call, group, machine_, costs_));
}

Time idle_message(const machine::Routes& routes, const machine::Connection& connection, std::int64_t bytes) {
  return connection.from == connection.to ? 0 : rounded(program::message_time(routes, connection, Bytes{bytes}));
}

Time idle_departure(const machine::Routes& routes, const machine::Connection& connection, std::int64_t bytes) {
  if (connection.from == connection.to) return 0;
  return duration_at_rate(Bytes{bytes}, routes.network().links[routes.first(connection)].bandwidth);
}

bool needs_all(const program::Collective& collective, const program::Group& group) {
  if (!all_hold_some(collective, group)) return false;
  return collective.kind == CollectiveKind::all_reduce || collective.kind == CollectiveKind::all_gather ||
         collective.kind == CollectiveKind::reduce_scatter ||
         (collective.kind == CollectiveKind::all_to_all && collective.shares.empty());
}

bool all_wait(const program::Collective& collective, const program::Group& group) {
  if (collective.kind == CollectiveKind::all_reduce) return collective.bytes > Bytes{0};
  if (collective.kind != CollectiveKind::all_to_all || collective.shares.empty()) return needs_all(collective, group);
  return std::ranges::all_of(collective.shares, [](double share) { return share > 0; });
}

Time kernel_time(const machine::Machine& machine, const program::Kernel& kernel, const program::Group& group) {
  const machine::DeviceSpec& device = machine.device;
  const double second_ps = static_cast<double>(second);
  if (const auto* gemm = std::get_if<program::GemmKernel>(&kernel.work)) {
    const double all = device.transaction ? static_cast<double>(device.transaction->cus) : 1;
    const double part = kernel.cus > 0 ? static_cast<double>(kernel.cus) / all : 1;
    return rounded(static_cast<double>(gemm->shape.flops()) / (static_cast<double>(gemm->shape.peak) * part) *
                   second_ps);
  }
  const auto& copy = std::get<program::CopyKernel>(kernel.work);
  const std::size_t members = group.members.size();
  if (members < 2) return 0;
  const std::int64_t chunk = copy.bytes / static_cast<std::int64_t>(members);
  const Time step = idle_message(machine::Routes(machine.network), {group.members[1], group.members[0]}, chunk);
  if (copy.kind == program::CopyKind::add)
    return rounded(3.0 * static_cast<double>(copy.bytes) / static_cast<double>(device.memory_bandwidth.value()) *
                   second_ps);
  return saturating_times(static_cast<std::int64_t>(members) - 1, step);
}

bool kernel_joins(const program::Kernel& kernel, const program::Group& group) {
  const auto members = static_cast<std::uint32_t>(group.members.size());
  return members > 1 && !program::destinations(kernel, 0, members).empty();
}

WalkRules least_rules(const machine::Machine& machine, const program::Program& program,
                      const machine::BoundWays& ways) {
  WalkRules rules;
  rules.message = [routes = machine::Routes(machine.network, ways)](const machine::Connection& connection,
                                                                    std::int64_t bytes) {
    return least_message(routes, connection, bytes);
  };
  rules.departure = [](const machine::Connection&, std::int64_t) { return Time{0}; };
  rules.joins = [&](std::uint32_t index, GroupId group) {
    return needs_all(program.collectives[index], program.groups[group]);
  };
  rules.collective = [](std::uint32_t, GroupId) { return Time{0}; };
  rules.kernel_joins = [](std::uint32_t, GroupId) { return false; };
  rules.kernel = [](std::uint32_t, GroupId) { return Time{0}; };
  rules.events = false;
  return rules;
}

WalkRules idle_rules(const machine::Machine& machine, const program::Program& program, const machine::BoundWays& ways,
                     CollectiveTimes& times) {
  WalkRules rules;
  const machine::Routes routes(machine.network, ways);
  rules.message = [routes](const machine::Connection& connection, std::int64_t bytes) {
    return idle_message(routes, connection, bytes);
  };
  rules.departure = [routes](const machine::Connection& connection, std::int64_t bytes) {
    return idle_departure(routes, connection, bytes);
  };
  rules.joins = [&](std::uint32_t index, GroupId group) {
    return all_wait(program.collectives[index], program.groups[group]);
  };
  rules.kernel_joins = [&](std::uint32_t index, GroupId group) {
    return kernel_joins(program.kernels[index], program.groups[group]);
  };
  rules.collective = [&](std::uint32_t index, GroupId group) { return times(index, group); };
  rules.kernel = [&](std::uint32_t index, GroupId group) {
    return kernel_time(machine, program.kernels[index], program.groups[group]);
  };
  return rules;
}

}  // namespace tessera::sim
