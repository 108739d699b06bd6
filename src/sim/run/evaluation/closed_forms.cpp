#include "closed_forms.hpp"

#include <algorithm>
#include <map>

#include "least_collective.hpp"
#include "outlook.hpp"
#include "tessera/base/integers.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/group_rank.hpp"
#include "walk_rules.hpp"

namespace tessera::sim {
namespace {

using program::DeviceId;

/// How often a device's streams carry out each instruction that sends.
class Traffic {
 public:
  Traffic(const machine::Machine& machine, const program::Program& program)
      : machine_(machine),
        program_(program),
        lowerings_(program, machine),
        ways_(program.ways),
        routes_(machine.network, ways_),
        bytes_(machine.network.links.size(), 0) {}
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

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
      if (one.op == program::Op::send) add_message({device, bound.peers[one.a], one.b}, one.bytes, times);
      if (one.op == program::Op::collective) collectives[one.a] = saturating_sum(collectives[one.a], times);
    }
  }
  void add_collective(DeviceId device, std::uint32_t index, std::int64_t times) {
    const program::GroupId id = program_.devices[device].groups[program_.collectives[index].group_slot];
    const program::Group& group = program_.groups[id];
    const auto rank = program::rank_in(group, device);
    if (!rank) return;
    const program::CollectiveCall call = lowerings_.call(index, id, *rank);
    program::for_all_steps(program::algorithm_of(call), call,
                           [&](const program::CollectiveCall&, const program::Step& step) {
                             for (const program::Transfer& transfer : step.sends)
                               add_message({device, group.members[transfer.peer]}, transfer.bytes, times);
                           });
  }
  void add_message(const machine::Connection& connection, std::int64_t bytes, std::int64_t times) {
    routes_.for_each_link(connection, [&](machine::LinkId link) {
      bytes_[link] = saturating_sum(bytes_[link], saturating_times(times, bytes));
    });
  }

  const machine::Machine& machine_;
  const program::Program& program_;
  program::Lowerings lowerings_;
  machine::BoundWays ways_;
  machine::Routes routes_;  // which looks at them
  std::vector<std::int64_t> bytes_;
};

/// Times of what a program does, and what its links carry.
program::Evaluation followed(const machine::Machine& machine, const program::Program& program, CostTables& costs,
                             const WalkRules& rules) {
  Walked walked = walk(kinds_and_speeds(machine), program, costs, rules);
  if (!walked.ended) return {false, "devices wait for each other for ever"};
  program::Evaluation found{true, {}, walked.time};
  found.accelerators = machine.accelerators();
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
                                const workload::CostModel& cost, LeastTimes& known) {
  CostTables costs(program, machine, cost);
  const machine::BoundWays ways(program.ways);
  program::Evaluation found = followed(machine, program, costs, least_rules(machine, program, ways));
  if (found.feasible) found.time = std::max(found.time, least_of(machine, program, costs, known));
  return found;
}

program::Evaluation estimate(const machine::Machine& machine, const program::Program& program,
                             const workload::CostModel& cost) {
  CostTables costs(program, machine, cost);
  CollectiveTimes times(machine, program, costs);
  const machine::BoundWays ways(program.ways);
  return followed(machine, program, costs, idle_rules(machine, program, ways, times));
}

}  // namespace tessera::sim
