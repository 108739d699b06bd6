#include "sim/laws/fold/unlike.hpp"

#include <fmt/format.h>

namespace tessera::sim {

using program::DeviceId;

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
