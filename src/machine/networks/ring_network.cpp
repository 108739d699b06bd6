#include "ring_network.hpp"

#include "tessera/machine/network_builder.hpp"

namespace tessera::machine {

LinkId RingRouter::next(NodeId at, NodeId to) const {
  if (at == to) return no_link;
  if (!both_ways_) return at;
  const NodeId upwards = to > at ? to - at : to + devices_ - at;
  return 2 * at + (upwards <= devices_ - upwards ? 0 : 1);
}

void build_ring(NodeId devices, const RingLinks& links, const std::string& link_class, Machine& machine) {
  NetworkBuilder builder(devices);
  const std::uint16_t type = builder.link_class(link_class);
  for (NodeId device = 0; device < devices && devices > 1; ++device) {
    builder.add_link(device, (device + 1) % devices, links.bandwidth, links.latency, type);
    if (links.both_ways && devices > 2)
      builder.add_link(device, (device + devices - 1) % devices, links.bandwidth, links.latency, type);
  }
  machine.network = builder.finish();
  machine.network.router = std::make_shared<RingRouter>(devices, links.both_ways);
  machine.devices_per_node = static_cast<int>(devices);
  for (NodeId device = 0; device < devices; ++device) machine.places.push_back({0, static_cast<int>(device), 0, -1});
}

}  // namespace tessera::machine
