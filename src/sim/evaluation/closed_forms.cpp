#include "closed_forms.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "tessera/base/integers.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/group_rank.hpp"
#include "tessera/program/message_time.hpp"
#include "walk.hpp"

namespace tessera::sim {
namespace {

using program::CollectiveKind;
using program::DeviceId;
using program::GroupId;

Time rounded(double ps) { return ps < static_cast<double>(latest) ? static_cast<Time>(std::floor(ps)) : never; }

/// By a link, rounded down.
Time carried(std::int64_t bytes, std::int64_t rate) {
  const Uint128 time = static_cast<Uint128>(bytes) * static_cast<Uint128>(second) / static_cast<Uint128>(rate);
  return time < static_cast<Uint128>(latest) ? static_cast<Time>(time) : never;
}

/// Of messages that meet no other.
Time alone(const machine::Machine& machine, DeviceId from, DeviceId to, std::int64_t bytes) {
  return from == to ? 0 : rounded(program::message_time(machine, from, to, Bytes{bytes}));
}

/// The links' latencies, and the bytes on the slowest one.
Time at_least(const machine::Machine& machine, DeviceId from, DeviceId to, std::int64_t bytes) {
  const machine::Network& network = machine.network;
  Time latency = 0;
  std::int64_t rate = std::numeric_limits<std::int64_t>::max();
  for (machine::NodeId at = from; at != to;) {
    const machine::Link& link = network.links[network.router->next(at, to)];
    latency = saturating_add(latency, link.latency.value());
    rate = std::min(rate, link.bandwidth.value());
    at = link.to;
  }
  return from == to ? 0 : saturating_add(latency, carried(bytes, rate));
}

/// The bytes of whole elements are so many that every member holds some.
bool all_hold_some(const program::Collective& collective, const program::Group& group) {
  return collective.bytes / collective.element >= static_cast<std::int64_t>(group.members.size());
}

/// Whether each member's result needs data of every other one.
bool needs_all(const program::Collective& collective, const program::Group& group) {
  if (!all_hold_some(collective, group)) return false;
  return collective.kind == CollectiveKind::all_reduce || collective.kind == CollectiveKind::all_gather ||
         collective.kind == CollectiveKind::reduce_scatter ||
         (collective.kind == CollectiveKind::all_to_all && collective.shares.empty());
}

/// Whether members are taken to wait for each other: where some could go on without some others, as the root of a
/// broadcast does, all go on by themselves.
bool all_wait(const program::Collective& collective, const program::Group& group) {
  if (collective.kind == CollectiveKind::all_reduce) return collective.bytes > Bytes{0};
  if (collective.kind != CollectiveKind::all_to_all || collective.shares.empty()) return needs_all(collective, group);
  return std::ranges::all_of(collective.shares, [](double share) { return share > 0; });
}

/// Of a program's collectives in its groups, each found once.
class CollectiveTimes {
 public:
  CollectiveTimes(const machine::Machine& machine, const program::Program& program, CostTables& costs)
      : machine_(machine), program_(program), costs_(costs) {}

  Time operator()(std::uint32_t index, GroupId group) {
    const auto [found, added] = known_.try_emplace({index, group}, 0);
    if (added) found->second = find(program_.collectives[index], program_.groups[group]);
    return found->second;
  }

 private:
  Time find(const program::Collective& collective, const program::Group& group) {
    if (group.members.size() < 2) return 0;
    const program::CollectiveCall call = program::make_call(collective, group, 0, machine_);
    const program::CollectiveAlgorithm& algorithm = program::algorithm_of(call);
    const Time sent = rounded(algorithm.time(collective, group, machine_));
    return saturating_add(sent, reductions(algorithm, call, group));
  }
  /// Of the first member, on the slowest.
  Time reductions(const program::CollectiveAlgorithm& algorithm, const program::CollectiveCall& call,
                  const program::Group& group) {
    double slowest = 1;
    for (const DeviceId member : group.members) slowest = std::min(slowest, machine_.speed[member]);
    CostTable& costs = costs_.at_speed(slowest);
    std::vector<Time> by_strand(algorithm.strands(call), 0);
    program::for_all_steps(algorithm, call, [&](const program::CollectiveCall& strand, const program::Step& step) {
      Time& sum = by_strand[strand.strand];
      sum = saturating_add(sum, costs.reduction(step.reduce * static_cast<std::int64_t>(by_strand.size())));
    });
    return by_strand.empty() ? 0 : std::ranges::max(by_strand);
  }

  const machine::Machine& machine_;
  const program::Program& program_;
  CostTables& costs_;
  std::map<std::pair<std::uint32_t, GroupId>, Time> known_;
};

/// On all members alike.
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
  const Time step = alone(machine, group.members[1], group.members[0], chunk);
  if (copy.kind == program::CopyKind::add)
    return rounded(3.0 * static_cast<double>(copy.bytes) / static_cast<double>(device.memory_bandwidth.value()) *
                   second_ps);
  return saturating_times(static_cast<std::int64_t>(members) - 1, step);
}

/// How often a device's streams carry out each instruction that sends.
class Traffic {
 public:
  Traffic(const machine::Machine& machine, const program::Program& program)
      : machine_(machine), program_(program), bytes_(machine.network.links.size(), 0) {}

  std::vector<std::int64_t> of_all_devices() {
    for (DeviceId device = 0; device < program_.devices.size(); ++device) {
      std::map<std::uint32_t, std::int64_t> collectives;
      for (const program::BlockId entry : program_.devices[device].streams) {
        for (const auto& [block, times] : program::block_runs(program_, entry)) add(device, block, times, collectives);
      }
      for (const auto& [index, times] : collectives) add_collective(device, index, times);
    }
    return std::move(bytes_);
  }

 private:
  /// Messages of a block, and how often it comes to each collective.
  void add(DeviceId device, program::BlockId block, std::int64_t times,
           std::map<std::uint32_t, std::int64_t>& collectives) {
    const program::DeviceProgram& bound = program_.devices[device];
    for (const program::Instruction& one : program_.blocks[block].code) {
      if (one.op == program::Op::send) add_message(device, bound.peers[one.a], one.bytes, times);
      if (one.op == program::Op::collective) collectives[one.a] = saturating_sum(collectives[one.a], times);
    }
  }
  void add_collective(DeviceId device, std::uint32_t index, std::int64_t times) {
    const program::Collective& collective = program_.collectives[index];
    const program::Group& group = program_.groups[program_.devices[device].groups[collective.group_slot]];
    const auto rank = program::rank_in(group, device);
    if (!rank) return;
    const program::CollectiveCall call = program::make_call(collective, group, *rank, machine_);
    program::for_all_steps(program::algorithm_of(call), call,
                           [&](const program::CollectiveCall&, const program::Step& step) {
                             for (const program::Transfer& transfer : step.sends)
                               add_message(device, group.members[transfer.peer], transfer.bytes, times);
                           });
  }
  void add_message(DeviceId from, DeviceId to, std::int64_t bytes, std::int64_t times) {
    const machine::Network& network = machine_.network;
    for (machine::NodeId at = from; at != to;) {
      const machine::LinkId link = network.router->next(at, to);
      bytes_[link] = saturating_sum(bytes_[link], saturating_times(times, bytes));
      at = network.links[link].to;
    }
  }

  const machine::Machine& machine_;
  const program::Program& program_;
  std::vector<std::int64_t> bytes_;
};

/// Times of what a program does, and what its links carry.
program::Evaluation followed(const machine::Machine& machine, const program::Program& program, CostTables& costs,
                             const WalkRules& rules) {
  Walked walked = walk(machine, program, costs, rules);
  if (!walked.ended) return {false, "devices wait for each other for ever"};
  program::Evaluation found{true, {}, walked.time};
  found.busy = std::move(walked.busy);
  found.link_bytes = bytes_by_link(machine, program);
  for (std::size_t link = 0; link < found.link_bytes.size(); ++link) {
    if (found.link_bytes[link] == 0) continue;
    found.time = std::max(found.time, carried(found.link_bytes[link], machine.network.links[link].bandwidth.value()));
  }
  std::map<std::vector<program::BlockId>, std::int64_t> peaks;  // of devices that do the same
  for (DeviceId device = 0; device < program.devices.size(); ++device) {
    const auto [peak, added] = peaks.try_emplace(program.devices[device].streams, 0);
    if (added) peak->second = program::memory_peak(program, device).total;
    found.peak_memory.push_back(peak->second);
  }
  return found;
}

}  // namespace

std::vector<std::int64_t> bytes_by_link(const machine::Machine& machine, const program::Program& program) {
  return Traffic(machine, program).of_all_devices();
}

program::Evaluation lower_bound(const machine::Machine& machine, const program::Program& program,
                                const workload::CostModel& cost) {
  CostTables costs(program, machine, cost);
  WalkRules rules;
  rules.message = [&](DeviceId from, DeviceId to, std::int64_t bytes) { return at_least(machine, from, to, bytes); };
  rules.departure = [](DeviceId, DeviceId, std::int64_t) { return Time{0}; };
  rules.joins = [&](std::uint32_t index, GroupId group) {
    return needs_all(program.collectives[index], program.groups[group]);
  };
  rules.collective = [](std::uint32_t, GroupId) { return Time{0}; };
  rules.kernel_joins = [](std::uint32_t, GroupId) { return false; };
  rules.kernel = [](std::uint32_t, GroupId) { return Time{0}; };
  rules.events = false;
  return followed(machine, program, costs, rules);
}

program::Evaluation estimate(const machine::Machine& machine, const program::Program& program,
                             const workload::CostModel& cost) {
  CostTables costs(program, machine, cost);
  CollectiveTimes times(machine, program, costs);
  WalkRules rules;
  rules.message = [&](DeviceId from, DeviceId to, std::int64_t bytes) { return alone(machine, from, to, bytes); };
  rules.departure = [&](DeviceId from, DeviceId to, std::int64_t bytes) {
    if (from == to) return Time{0};
    const machine::Network& network = machine.network;
    return duration_at_rate(Bytes{bytes}, network.links[network.router->next(from, to)].bandwidth);
  };
  rules.joins = [&](std::uint32_t index, GroupId group) {
    return all_wait(program.collectives[index], program.groups[group]);
  };
  rules.kernel_joins = [&](std::uint32_t index, GroupId group) {
    const auto members = static_cast<std::uint32_t>(program.groups[group].members.size());
    return members > 1 && !program::destinations(program.kernels[index], 0, members).empty();
  };
  rules.collective = [&](std::uint32_t index, GroupId group) { return times(index, group); };
  rules.kernel = [&](std::uint32_t index, GroupId group) {
    return kernel_time(machine, program.kernels[index], program.groups[group]);
  };
  return followed(machine, program, costs, rules);
}

}  // namespace tessera::sim
