#include "sim/execution/destinations.hpp"

namespace tessera::sim {

Destinations destinations_of(program::Lowerings& lowerings) {
  return [&lowerings](machine::NodeId device, std::vector<machine::NodeId>& to) {
    const program::Program& program = lowerings.program();
    if (device >= program.devices.size() || program.devices[device].streams.empty()) return;
    const program::DeviceProgram& own = program.devices[device];
    for (const program::DeviceId peer : own.peers) {
      if (peer != program::no_device) to.push_back(peer);
    }
    for (std::uint32_t index = 0; index < program.collectives.size(); ++index) {
      const std::uint32_t slot = program.collectives[index].group_slot;
      if (slot >= own.groups.size() || own.groups[slot] == program::no_group) continue;
      program::append_destinations(lowerings, device, index, to);
    }
    program::append_kernel_destinations(program, device, to);
  };
}

}  // namespace tessera::sim
