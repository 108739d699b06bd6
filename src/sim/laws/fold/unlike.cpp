#include "sim/laws/fold/unlike.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

namespace tessera::sim {

using program::DeviceId;
using program::GroupId;

namespace {

/// By slot, the first one in which the device has the same group.
std::vector<std::uint32_t> first_slots(const program::DeviceProgram& device) {
  std::map<GroupId, std::uint32_t> known;
  std::vector<std::uint32_t> first;
  for (std::uint32_t slot = 0; slot < device.groups.size(); ++slot)
    first.push_back(
        device.groups[slot] == program::no_group ? slot : known.try_emplace(device.groups[slot], slot).first->second);
  return first;
}

bool has_group_in(const program::DeviceProgram& device, GroupId group, std::uint32_t slot) {
  return slot < device.groups.size() && device.groups[slot] == group;
}

}  // namespace

std::string unlike_devices(const machine::Machine& machine, const program::Program& program, DeviceId device,
                           DeviceId other) {
  const program::DeviceProgram &a = program.devices[device], &b = program.devices[other];
  const auto different = [&](const char* what) {
    return fmt::format("{} and {} {}", machine.node_name(device), machine.node_name(other), what);
  };
  if (machine.kind(device) != machine.kind(other)) return different("are devices of different kinds");
  if (machine.speed[device] != machine.speed[other])
    return fmt::format("{} has {} times the normal speed, {} {} times", machine.node_name(device),
                       machine.speed[device], machine.node_name(other), machine.speed[other]);
  if (a.streams != b.streams || a.events != b.events) return different("carry out different instructions");
  if (a.groups != b.groups && first_slots(a) != first_slots(b)) return different("have one group in different slots");
  return {};
}

std::string group_in_different_slots(const machine::Machine& machine, const program::Program& program) {
  std::map<GroupId, std::uint32_t> slots;
  for (const program::DeviceProgram& device : program.devices)
    for (std::uint32_t slot = 0; slot < device.groups.size(); ++slot)
      if (device.groups[slot] != program::no_group) slots[device.groups[slot]] = slot;
  for (DeviceId device = 0; device < program.devices.size(); ++device)
    for (const GroupId group : program.devices[device].groups)
      if (group != program::no_group && !has_group_in(program.devices[device], group, slots[group]))
        return fmt::format("{} has a group in another slot than other members of it", machine.node_name(device));
  return {};
}

std::string unfit_collective(const machine::Machine& machine, const program::Program& program, std::uint32_t index,
                             std::initializer_list<program::GroupId> groups) {
  for (const program::GroupId group : groups) {
    std::string problem = program::check_collective(program.collectives[index], program.groups[group], machine);
    if (!problem.empty()) return problem;
  }
  return {};
}

}  // namespace tessera::sim
