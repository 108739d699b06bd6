#include "hosts.hpp"

#include <algorithm>

#include "tessera/machine/routes.hpp"

namespace tessera::strategy::megatron {
namespace {

/// A host that the device has a link to, the lowest one; no_device where there is none.
program::DeviceId host_beside(const machine::Machine& machine, program::DeviceId device) {
  const machine::Network& network = machine.network;
  program::DeviceId found = program::no_device;
  for (machine::LinkId link = network.first_link[device]; link < network.first_link[device + 1]; ++link) {
    const machine::NodeId to = network.links[link].to;
    if (network.is_host(to) && machine.alive(to) && !network.links[link].dead) found = std::min(found, to);
  }
  return found;
}

}  // namespace

program::DeviceId nearest_host(const machine::Machine& machine, program::DeviceId device) {
  // Where many servers have hosts, to look at all of them for each device would take longer than to simulate.
  if (const program::DeviceId beside = host_beside(machine, device); beside != program::no_device) return beside;
  const machine::Routes routes(machine.network);
  program::DeviceId best = program::no_device;
  std::size_t fewest = 0;
  for (program::DeviceId host = machine.accelerators(); host < machine.devices(); ++host) {
    if (!machine.alive(host)) continue;
    const std::size_t hops = routes.links(device, host).size();
    if (best == program::no_device || hops < fewest) best = host, fewest = hops;
  }
  return best;
}

}  // namespace tessera::strategy::megatron
