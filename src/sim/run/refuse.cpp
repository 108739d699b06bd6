#include "sim/run/refuse.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/execution/channel.hpp"
#include "sim/execution/cost_table.hpp"
#include "sim/network/network_tables.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::sim {
namespace {

using config::Unit;

/// Messages are numbered sets of packets, whose number has 31 bits.
void refuse_packets(const machine::Machine& machine, std::int64_t bytes) {
  const std::int64_t packet = machine.network.packet.value();
  if (bytes / packet < NetworkTables::most_packets) return;
  throw KeyError("machine.packet", "a message of " + config::format_quantity(bytes, Unit::bytes) + " in packets of " +
                                       config::format_quantity(packet, Unit::bytes) + " would be more than " +
                                       std::to_string(NetworkTables::most_packets) + " packets: make packets larger");
}

/// Of the messages that one device sends in one call, only looked at where the whole buffer were too many packets.
void refuse_packets(const machine::Machine& machine, const program::Program& program, program::DeviceId device,
                    const program::Collective& collective) {
  const program::GroupId id = program.devices[device].groups[collective.group_slot];
  if (id >= program.groups.size()) return;  // not in one, or reported later
  const program::Group& group = program.groups[id];
  const auto member = std::find(group.members.begin(), group.members.end(), device);
  if (member == group.members.end()) return;
  const auto rank = static_cast<std::uint32_t>(member - group.members.begin());
  const program::CollectiveCall call = program::make_call(collective, group, rank, machine);
  const auto look = [&](const program::CollectiveCall&, const program::Step& step) {
    for (const program::Transfer& transfer : step.sends) refuse_packets(machine, transfer.bytes);
  };
  program::for_all_steps(program::algorithm_of(call), call, look);
}

void refuse_packets(const machine::Machine& machine, const program::Program& program) {
  for (const program::Block& block : program.blocks) {
    for (const program::Instruction& instruction : block.code) {
      if (instruction.op == program::Op::send) refuse_packets(machine, instruction.bytes);
    }
  }
  for (const program::Collective& collective : program.collectives) {
    if (collective.bytes / machine.network.packet < NetworkTables::most_packets) continue;
    for (program::DeviceId device = 0; device < program.devices.size(); ++device) {
      if (collective.group_slot < program.devices[device].groups.size())
        refuse_packets(machine, program, device, collective);
    }
  }
}

void refuse_limits(const machine::Machine& machine, const program::Program& program) {
  if (program.devices.size() > machine.devices()) {
    throw InputError("the program has " + std::to_string(program.devices.size()) + " devices, the machine " +
                     std::to_string(machine.devices()));
  }
  if (program.groups.size() > group_limit) {
    throw InputError("the program has " + std::to_string(program.groups.size()) + " groups, at most " +
                     std::to_string(group_limit) + " are allowed");
  }
  for (const program::Block& block : program.blocks) {
    for (const program::Instruction& instruction : block.code) {
      const bool has_channel = instruction.op == program::Op::send || instruction.op == program::Op::receive;
      if (has_channel && is_collective(instruction.b)) {
        throw InputError("channel " + std::to_string(instruction.b) + " in block " + block.name +
                         ", channels are below " + std::to_string(first_collective_channel));
      }
    }
  }
  refuse_packets(machine, program);
  constexpr BytesPerSecond fastest{1'000'000'000'000'000'000};  // so that all rates stay in range
  for (machine::LinkId link = 0; link < machine.network.links.size(); ++link) {
    const BytesPerSecond bandwidth = machine.network.links[link].bandwidth;
    if (bandwidth > fastest)
      throw KeyError("machine.topology", "the link from " + machine.link_name(link) + " has " +
                                             config::format_rounded(bandwidth) + ", allowed: at most 1 EB/s");
  }
}

std::vector<std::string> refuse_need(const machine::Machine& machine, const program::Program& program, const Need& need,
                                     bool allow_oversubscription) {
  const std::string problem = need_problem(machine, program, need);
  if (problem.empty()) return {};
  if (need.peak.most == beyond_count) throw InfeasibleError(problem);
  if (allow_oversubscription) return {problem};
  throw InfeasibleError(problem + allow_hint);
}

}  // namespace

void refuse_program(const machine::Machine& machine, const program::Program& program) {
  const std::vector<std::string> problems = program::check_program(program, machine);
  if (problems.empty()) return;
  std::string text;
  for (const std::string& problem : problems) text += (text.empty() ? "" : "\n") + problem;
  throw InfeasibleError(text);
}

namespace {

/// Who else says what is left of a memory's bandwidth.
void refuse_shared_memory(const program::Program& program) {
  if (program.memory_packet == 0) return;
  if (program.channels > 0)
    throw KeyError("cost.memory_traffic",
                   fmt::format("\"shared\" is not allowed beside collectives that take {} cores and their share of the "
                               "memory bandwidth: set collectives.channels to 0",
                               program.channels));
  if (!program.kernels.empty())
    throw KeyError("cost.memory_traffic",
                   "\"shared\" is not allowed beside kernels at transaction level, which have a memory of their own");
}

}  // namespace

void refuse_unrepresentable(const machine::Machine& machine, const program::Program& program,
                            const workload::CostModel& cost) {
  refuse_shared_memory(program);
  refuse_limits(machine, program);
  refuse_kernels(machine, program);
  static_cast<void>(CostTables(program, machine, cost));
}

std::vector<std::string> refuse(const machine::Machine& machine, const program::Program& program,
                                const workload::CostModel& cost, bool allow_oversubscription) {
  refuse_unrepresentable(machine, program, cost);
  refuse_program(machine, program);
  return refuse_memory(machine, program, allow_oversubscription);
}

std::vector<std::string> refuse_memory(const machine::Machine& machine, const program::Program& program,
                                       bool allow_oversubscription) {
  return refuse_need(machine, program, largest_need(machine, program), allow_oversubscription);
}

std::vector<std::string> warn_of_held(const machine::Machine& machine, const program::Program& program,
                                      const results::RunResults& own, Communicator& comm) {
  const auto left_of = [&](const Need& need) {
    return machine.spec(need.device).usable_memory().value() - need.peak.total;
  };
  Need largest;
  for (const results::DeviceRow& row : own.device_rows) {
    const Need need{row.device, {row.peak_memory, {}, row.peak_memory}};
    if (row.peak_memory > 0 && (largest.peak.total == 0 || left_of(need) < left_of(largest))) largest = need;
  }
  for (const results::MemoryRow& row : own.memory_rows) {
    if (row.device == largest.device) largest.peak.by_category.push_back(row.at_peak);
  }
  for (const Need& need : all_gather(comm, largest)) {
    if (need.peak.total == 0) continue;
    const bool as_much = left_of(need) == left_of(largest);
    if (largest.peak.total == 0 || left_of(need) < left_of(largest) || (as_much && need.device < largest.device))
      largest = need;
  }
  return refuse_need(machine, program, largest, true);
}

}  // namespace tessera::sim
