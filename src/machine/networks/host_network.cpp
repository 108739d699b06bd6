#include "host_network.hpp"

#include <memory>

#include "../host_router.hpp"
#include "tessera/machine/network_builder.hpp"

namespace tessera::machine {
namespace {

/// Over a switch of its own, whose first link is that to the host (Network::host_of).
void add_bridge(const HostShape& shape, NodeId host, const std::vector<NodeId>& ends, const std::string& name,
                NetworkBuilder& builder) {
  const std::uint16_t to_host = builder.link_class("host"), to_end = builder.link_class("bridge");
  const NodeId bridge = builder.add_switch(name);
  // As of other switches, the hop to the bridge gets the odd picosecond: its latency is lookahead.
  const Duration behind = shape.latency / 2, before = shape.latency - behind;
  builder.add_link(host, bridge, *shape.bridge_bandwidth, before, to_host);
  builder.add_link(bridge, host, *shape.bridge_bandwidth, behind, to_host);
  for (const NodeId end : ends) {
    builder.add_link(end, bridge, shape.bandwidth, before, to_end);
    builder.add_link(bridge, end, shape.bandwidth, behind, to_end);
  }
}

/// `names` are those of the hosts.
Network with_hosts(const Network& old, const std::vector<HostShape>& hosts, const std::vector<std::string>& names) {
  const auto count = static_cast<NodeId>(hosts.size());
  const auto in_all = [&](NodeId node) { return node < old.devices ? node : node + count; };
  NetworkBuilder builder(old.devices + count);
  for (const std::string& name : old.switch_names) builder.add_switch(name);
  for (const std::string& name : old.link_classes) static_cast<void>(builder.link_class(name));
  for (const Link& link : old.links)
    builder.add_link(in_all(link.from), in_all(link.to), link.bandwidth, link.latency, link.link_class);
  const std::uint16_t type = builder.link_class("host");
  NodeId bridges = 0;
  for (NodeId i = 0; i < count; ++i) {
    std::vector<NodeId> ends;
    for (const NodeId end : hosts[i].ends) ends.push_back(in_all(end));
    if (hosts[i].bridge_bandwidth) {
      add_bridge(hosts[i], old.devices + i, ends, "bridge of " + names[i], builder);
      ++bridges;
      continue;
    }
    for (const NodeId end : ends)
      builder.add_links_both_ways(end, old.devices + i, hosts[i].bandwidth, hosts[i].latency, type);
  }
  Network all = builder.finish();
  all.hosts = count;
  all.bridges = bridges;
  all.packet = old.packet;
  all.arbitration = old.arbitration;
  all.router = old.router;
  all.router = std::make_shared<HostRouter>(all, old.first_link);
  return all;
}

/// Beside the first device that a host is linked to, or that its first switch is.
DevicePlace place_of(const Machine& machine, const HostShape& host) {
  NodeId beside = host.ends.front();
  for (const Link& link : machine.network.links) {
    if (beside < machine.devices()) break;
    if (link.to == beside && link.from < machine.devices()) beside = link.from;
  }
  DevicePlace place = beside < machine.devices() ? machine.places[beside] : DevicePlace{};
  place.node = host.node.value_or(place.node);
  place.nic = -1;
  return place;
}

}  // namespace

void link_hosts(const std::vector<HostShape>& hosts, Machine& machine) {
  std::vector<DevicePlace> places;
  std::vector<std::string> names;
  for (const HostShape& host : hosts) {
    names.push_back(machine.host_kinds.at(host.kind).name + " " + std::to_string(names.size()));
    places.push_back(place_of(machine, host));
    machine.kind_of_host.push_back(host.kind);
  }
  machine.places.insert(machine.places.end(), places.begin(), places.end());
  machine.network = with_hosts(machine.network, hosts, names);
  machine.speed.resize(machine.devices(), 1.0);
}

}  // namespace tessera::machine
