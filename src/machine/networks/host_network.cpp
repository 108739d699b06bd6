#include "host_network.hpp"

#include <memory>

#include "../host_router.hpp"
#include "tessera/machine/network_builder.hpp"

namespace tessera::machine {
namespace {

Network with_hosts(const Network& old, const std::vector<HostShape>& hosts) {
  const auto count = static_cast<NodeId>(hosts.size());
  const auto in_all = [&](NodeId node) { return node < old.devices ? node : node + count; };
  NetworkBuilder builder(old.devices + count);
  for (const std::string& name : old.switch_names) builder.add_switch(name);
  for (const std::string& name : old.link_classes) static_cast<void>(builder.link_class(name));
  for (const Link& link : old.links)
    builder.add_link(in_all(link.from), in_all(link.to), link.bandwidth, link.latency, link.link_class);
  const std::uint16_t type = builder.link_class("host");
  for (NodeId i = 0; i < count; ++i) {
    for (const NodeId end : hosts[i].ends)
      builder.add_links_both_ways(in_all(end), old.devices + i, hosts[i].bandwidth, hosts[i].latency, type);
  }
  Network all = builder.finish();
  all.hosts = count;
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
  for (const HostShape& host : hosts) {
    places.push_back(place_of(machine, host));
    machine.kind_of_host.push_back(host.kind);
  }
  machine.places.insert(machine.places.end(), places.begin(), places.end());
  machine.network = with_hosts(machine.network, hosts);
  machine.speed.resize(machine.devices(), 1.0);
}

}  // namespace tessera::machine
