// A dragonfly: groups of routers, all routers of a group linked to each other, all groups linked to each other.
// Source: Kim, Dally, Scott and Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008, section 3.
#pragma once

#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// Shape and links of a dragonfly. In the paper's letters: g groups of a routers, each with p devices and h global
/// links.
struct DragonflyShape {
  NodeId groups = 1, routers_per_group = 1, devices_per_router = 1;
  NodeId global_links = 0;  ///< of each router, at least so many that a group reaches each other one
  BytesPerSecond device_bandwidth, local_bandwidth, global_bandwidth;
  Duration device_latency;  ///< from device to device through one router, half of it in front of the router
  Duration local_latency, global_latency;

  [[nodiscard]] NodeId routers() const { return groups * routers_per_group; }
  [[nodiscard]] NodeId devices() const { return routers() * devices_per_router; }
  [[nodiscard]] NodeId ports() const { return routers_per_group * global_links; }  ///< global ones, of a group
  /// Links between any two groups; ports beyond them lead nowhere.
  [[nodiscard]] NodeId links_of_a_pair() const { return groups == 1 ? 0 : ports() / (groups - 1); }
  /// Ports that have a link: the first ones of the group, router by router.
  [[nodiscard]] NodeId used_ports() const { return groups == 1 ? 0 : links_of_a_pair() * (groups - 1); }
  /// The group behind port k of group i: i + 1 + k modulo groups - 1, "relative" arrangement (Hastings et al.,
  /// "Comparing Global Link Arrangements for Dragonfly Networks", CLUSTER 2015, section II).
  [[nodiscard]] NodeId group_behind(NodeId group, NodeId port) const {
    return (group + 1 + port % (groups - 1)) % groups;
  }
  /// The port of group `from` that leads to group `to`, of the so-manieth link of the pair.
  [[nodiscard]] NodeId port_to(NodeId from, NodeId to, NodeId copy) const {
    return copy * (groups - 1) + (to + groups - from - 1) % groups;
  }
};

/// Network and places. Routers are switches "router 0" and so on, group by group; a router and its devices are a node.
/// Links of a router lead to its devices, to the other routers of its group in order, and over its global ports.
void build_dragonfly(const DragonflyShape& shape, Machine& machine);

/// Minimal routing (the paper, section 4.1): to the router of the own group that has a link to the group of the
/// destination, over that link, and to the destination's router. Where a pair of groups has several links, the number
/// of the destination modulo their number says which one, so messages to one device take one of them.
class DragonflyRouter final : public Router {
 public:
  DragonflyRouter(const DragonflyShape& shape, std::vector<LinkId> first_link)
      : shape_(shape), first_link_(std::move(first_link)) {}
  [[nodiscard]] LinkId next(NodeId at, NodeId to) const override;

 private:
  /// From a router to another one of its group.
  [[nodiscard]] LinkId local_link(NodeId router, NodeId to) const;

  DragonflyShape shape_;
  std::vector<LinkId> first_link_;
};

}  // namespace tessera::machine
