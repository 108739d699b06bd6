// Hosts linked to a network that is there.
#pragma once

#include <optional>
#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// One host, and the nodes of the machine that it is linked to, in both directions.
struct HostShape {
  std::uint32_t kind = 0;    ///< index into Machine::host_kinds
  std::optional<int> node;   ///< DevicePlace::node; nothing: that of the device that it stands beside
  BytesPerSecond bandwidth;  ///< of the link to each end, per direction
  Duration latency;          ///< from the host to an end; over a bridge 2 ps at least
  std::vector<NodeId> ends;  ///< one at least, each once
  std::optional<BytesPerSecond> bridge_bandwidth{};  ///< per direction; nothing: each end has its own link to the host
};

/// Puts hosts between the devices and the switches of a healthy machine, and their bridges behind the switches, with
/// places, speeds and routes. The kinds of the hosts are there.
void link_hosts(const std::vector<HostShape>& hosts, Machine& machine);

}  // namespace tessera::machine
