// Hosts linked to a network that is there.
#pragma once

#include <optional>
#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// One host, and the nodes of the machine that it is linked to, in both directions.
struct HostShape {
  std::uint32_t kind = 0;   ///< index into Machine::host_kinds
  std::optional<int> node;  ///< DevicePlace::node; nothing: that of the device that it stands beside
  BytesPerSecond bandwidth;
  Duration latency;
  std::vector<NodeId> ends;  ///< one at least, each once
};

/// Puts hosts between the devices and the switches of a healthy machine, with places, speeds and routes.
void link_hosts(const std::vector<HostShape>& hosts, Machine& machine);

}  // namespace tessera::machine
