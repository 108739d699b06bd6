#include <fmt/core.h>

#include <algorithm>

#include "../block_order.hpp"
#include "problems.hpp"

namespace tessera::program {
namespace {

using Kind = TrafficKey::Kind;

/// What is wrong with a device's meaning of one slot that its code uses; empty when nothing is.
template <class Id>
std::string slot_problem(const char* what, const std::vector<Id>& bound, std::uint32_t slot, std::size_t things) {
  if (slot >= bound.size()) return fmt::format("{} slot {} of {}", what, slot, bound.size());
  if (bound[slot] == static_cast<Id>(~Id{0})) return fmt::format("{} slot {}, which is not bound", what, slot);
  if (bound[slot] >= things) return fmt::format("{} slot {}, bound to {} of {}", what, slot, bound[slot], things);
  return {};
}

std::string key_problem(const Program& program, const DeviceProgram& device, const TrafficKey& key) {
  switch (key.kind) {
    case Kind::send:
    case Kind::receive:
      return slot_problem("peer", device.peers, key.slot, program.devices.size());
    case Kind::collective:
    case Kind::kernel:
      return slot_problem("group", device.groups, key.slot, program.groups.size());
    case Kind::signal:
    case Kind::wait:
      if (key.slot >= device.events) return fmt::format("event {} of {}", key.slot, device.events);
  }
  return {};
}

/// What of a host's code only accelerators carry out; empty: nothing.
std::string computed_in(const Program& program, BlockId entry) {
  for (const auto& [block, times] : block_runs(program, entry)) {
    for (const Instruction& one : program.blocks[block].code) {
      if (one.op == Op::compute) return fmt::format("operator \"{}\"", program.operators[one.a].name);
      if (one.op == Op::collective) return name_of(program.collectives[one.a].kind);
      if (one.op == Op::kernel) return fmt::format("kernel \"{}\"", program.labels[one.label]);
    }
  }
  return {};
}

void check_host(const Program& program, const machine::Machine& machine, DeviceId host, Problems& problems) {
  for (const BlockId entry : program.devices[host].streams) {
    const std::string what = computed_in(program, entry);
    if (what.empty()) continue;
    problems.add(fmt::format("{} has no compute and cannot run {}", machine.node_name(host), what));
    return;
  }
}

}  // namespace

Problems check_groups(const Program& program, const machine::Machine& machine) {
  Problems problems;
  std::vector<DeviceId> sorted;
  for (const Group& group : program.groups) {
    if (group.members.empty()) {
      problems.add("a group without members");
      continue;
    }
    sorted = group.members;
    std::sort(sorted.begin(), sorted.end());
    if (sorted.back() >= machine.devices()) {
      problems.add(fmt::format("group {}: device {} does not exist, the machine has {}", group_text(group),
                               sorted.back(), machine.devices()));
    }
    const auto host = std::ranges::lower_bound(sorted, machine.accelerators());
    if (host != sorted.end() && *host < machine.devices()) {
      problems.add(fmt::format("group {}: {} has no compute and carries out no collectives", group_text(group),
                               machine.node_name(*host)));
    }
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      problems.add(fmt::format("group {}: device {} is in it more than once", group_text(group), *twice));
    }
  }
  return problems;
}

Problems check_bindings(const Program& program, const machine::Machine& machine, ProgramTraffic& traffic) {
  Problems problems;
  if (program.devices.size() != machine.devices()) {
    problems.add(
        fmt::format("the program is for {} devices, the machine has {}", program.devices.size(), machine.devices()));
    return problems;
  }
  BlockTraffic& slots = traffic.of(SlotAliases::none());
  for (DeviceId id = 0; id < program.devices.size(); ++id) {
    const DeviceProgram& device = program.devices[id];
    if (!device.streams.empty() && machine.speed[id] <= 0) {
      problems.add(fmt::format("device {} is dead and cannot take part", id));
    }
    const bool has_entries = std::ranges::all_of(device.streams, [&](BlockId b) { return b < program.blocks.size(); });
    if (!machine.computes(id) && has_entries) check_host(program, machine, id, problems);
    for (std::size_t stream = 0; stream < device.streams.size(); ++stream) {
      const BlockId entry = device.streams[stream];
      if (entry >= program.blocks.size()) {
        problems.add(fmt::format("device {}, stream {}: block {} of {}", id, stream, entry, program.blocks.size()));
        continue;
      }
      for (const TrafficEntry& used : slots.of(entry)) {
        const std::string problem = key_problem(program, device, used.key);
        if (!problem.empty()) problems.add(fmt::format("device {}, stream {} uses {}", id, stream, problem));
      }
    }
  }
  return problems;
}

}  // namespace tessera::program
