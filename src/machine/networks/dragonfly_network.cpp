#include "dragonfly_network.hpp"

#include <memory>
#include <string>

#include "tessera/machine/network_builder.hpp"

namespace tessera::machine {

void build_dragonfly(const DragonflyShape& shape, Machine& machine) {
  NetworkBuilder builder(shape.devices());
  const std::uint16_t nic = builder.link_class("nic"), local = builder.link_class("local"),
                      global = builder.link_class("global");
  for (NodeId router = 0; router < shape.routers(); ++router) builder.add_switch("router " + std::to_string(router));
  const auto node = [&](NodeId router) { return shape.devices() + router; };
  // The first hop gets the odd picosecond: it is the one that crosses ranks, whose latency is lookahead.
  const Duration behind = shape.device_latency / 2, before = shape.device_latency - behind;
  for (NodeId device = 0; device < shape.devices(); ++device) {
    const NodeId router = device / shape.devices_per_router;
    builder.add_link(device, node(router), shape.device_bandwidth, before, nic);
    builder.add_link(node(router), device, shape.device_bandwidth, behind, nic);
    // No NIC: a device's one link carries all that it sends, to neighbours on its router too, so more rings side by
    // side would gain nothing.
    machine.places.push_back({static_cast<int>(router), static_cast<int>(device % shape.devices_per_router), 0, -1});
  }
  for (NodeId router = 0; router < shape.routers(); ++router) {
    const NodeId group = router / shape.routers_per_group, first = group * shape.routers_per_group;
    for (NodeId other = first; other < first + shape.routers_per_group; ++other)
      if (other != router)
        builder.add_link(node(router), node(other), shape.local_bandwidth, shape.local_latency, local);
    const NodeId first_port = (router - first) * shape.global_links;
    for (NodeId port = first_port; port < first_port + shape.global_links && port < shape.used_ports(); ++port) {
      const NodeId to = shape.group_behind(group, port);
      const NodeId end = shape.port_to(to, group, port / (shape.groups - 1));
      builder.add_link(node(router), node(to * shape.routers_per_group + end / shape.global_links),
                       shape.global_bandwidth, shape.global_latency, global);
    }
  }
  machine.network = builder.finish();
  machine.network.router = std::make_shared<DragonflyRouter>(shape, machine.network.first_link);
  machine.devices_per_node = static_cast<int>(shape.devices_per_router);
}

LinkId DragonflyRouter::local_link(NodeId router, NodeId to) const {
  const NodeId here = router % shape_.routers_per_group, there = to % shape_.routers_per_group;
  return first_link_[shape_.devices() + router] + shape_.devices_per_router + (there < here ? there : there - 1);
}

LinkId DragonflyRouter::next(NodeId at, NodeId to) const {
  if (at == to) return no_link;
  if (at < shape_.devices()) return first_link_[at];
  const NodeId router = at - shape_.devices(), goal = to / shape_.devices_per_router;
  if (router == goal) return first_link_[at] + to % shape_.devices_per_router;
  const NodeId group = router / shape_.routers_per_group, goal_group = goal / shape_.routers_per_group;
  if (group == goal_group) return local_link(router, goal);
  const NodeId port = shape_.port_to(group, goal_group, to % shape_.links_of_a_pair());
  const NodeId gate = group * shape_.routers_per_group + port / shape_.global_links;
  if (router != gate) return local_link(router, gate);
  return first_link_[at] + shape_.devices_per_router + shape_.routers_per_group - 1 + port % shape_.global_links;
}

}  // namespace tessera::machine
