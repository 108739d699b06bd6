// A dragonfly: routes solved by hand, the arrangement of its global links, bad input.
#include <set>

#include "machine_from.hpp"

namespace tessera::machine {
namespace {

std::string dragonfly(const std::string& keys) {
  return machine_text(
      "kind = \"dragonfly\"\ndevice_bandwidth = \"25 GB/s\"\ndevice_latency = \"1001 ps\"\nlocal_bandwidth = \"50 "
      "GB/s\"\nlocal_latency = \"300 ns\"\nglobal_bandwidth = \"20 GB/s\"\nglobal_latency = \"900 ns\"\n" +
      keys);
}

TEST_CASE("dragonfly routes are minimal: to the router with the link, over it, to the device's router") {
  // Three groups of two routers with two devices each: router 2 is the first of group 1. Port k of group i leads to
  // group i + 1 + k: router 0 to group 1, router 1 to group 2. The other end of the link from group 0 to group 1 is
  // group 1's port to group 0, its second one: router 3.
  const Machine it = machine_from(dragonfly("groups = 3\nrouters_per_group = 2\ndevices_per_router = 2\n"));
  CHECK(it.devices() == 12);
  CHECK(way(it, 0, 1) == Names{"gpu 0", "router 0", "gpu 1"});
  CHECK(way(it, 0, 2) == Names{"gpu 0", "router 0", "router 1", "gpu 2"});
  CHECK(way(it, 0, 6) == Names{"gpu 0", "router 0", "router 3", "gpu 6"});
  CHECK(way(it, 0, 4) == Names{"gpu 0", "router 0", "router 3", "router 2", "gpu 4"});
  CHECK(way(it, 2, 4) == Names{"gpu 2", "router 1", "router 0", "router 3", "router 2", "gpu 4"});
  CHECK(way(it, 4, 2) == Names{"gpu 4", "router 2", "router 3", "router 0", "router 1", "gpu 2"});
  // 12 devices, three links in groups, three between groups, all both ways.
  CHECK(it.network.links.size() == 2 * (12 + 3 + 3));
  CHECK(it.places[5].node == 2);
  CHECK(it.places[5].x == 1);
  // 1001 ps from device to device: the odd one in front of the router.
  CHECK(link_between(it, 0, 12).latency.value() == 501);
  CHECK(link_between(it, 12, 0).latency.value() == 500);
  CHECK(link_between(it, 12, 15).bandwidth.value() == 20'000'000'000);
  CHECK(link_between(it, 12, 13).bandwidth.value() == 50'000'000'000);
}

TEST_CASE("dragonfly: several links between two groups are taken by destination") {
  // Two groups of two routers with two global links each: all four ports lead to the other group. Devices 4 to 7 are
  // those of group 1, and 4 modulo 4 is the first link, that of router 0 to router 2.
  const Machine it =
      machine_from(dragonfly("groups = 2\nrouters_per_group = 2\ndevices_per_router = 2\nglobal_links = 2\n"));
  CHECK(way(it, 0, 4) == Names{"gpu 0", "router 0", "router 2", "gpu 4"});
  CHECK(way(it, 0, 6) == Names{"gpu 0", "router 0", "router 1", "router 3", "gpu 6"});
  const auto second = Routes(it.network).links(0, 5);
  CHECK(second.size() == 3);
  CHECK(second[1] != Routes(it.network).links(0, 4)[1]);
}

TEST_CASE("every global link of a dragonfly has one back, and each pair of groups as many") {
  // Nine groups of four routers with two links each: eight ports, one to each other group.
  const Machine it =
      machine_from(dragonfly("groups = 9\nrouters_per_group = 4\ndevices_per_router = 2\nglobal_links = 2\n"));
  std::multiset<std::pair<NodeId, NodeId>> pairs, routers;
  for (const Link& link : it.network.links) {
    if (it.network.link_classes[link.link_class] != "global") continue;
    const NodeId from = link.from - it.devices(), to = link.to - it.devices();
    pairs.insert({from / 4, to / 4});
    routers.insert({from, to});
  }
  CHECK(pairs.size() == 9 * 8);
  for (const auto& [from, to] : pairs) CHECK(pairs.count({from, to}) == 1);
  for (const auto& [from, to] : routers) CHECK(routers.count({to, from}) == routers.count({from, to}));
}

TEST_CASE("a dragonfly whose groups cannot reach each other is refused") {
  CHECK(errors_of(dragonfly("groups = 6\nrouters_per_group = 2\ndevices_per_router = 1\nglobal_links = 2\n")) ==
        Names{"m.toml:13:10: \"groups\": 6, allowed: 1 to 5, since the 4 global links of a group (routers_per_group x "
              "global_links) lead to as many others"});
  CHECK(errors_of(dragonfly("groups = 1000\nrouters_per_group = 1000\ndevices_per_router = 4\n")) ==
        Names{"m.toml:5:1: groups x routers_per_group x devices_per_router is 4000000 devices, at most 1048576 are "
              "allowed"});
}

}  // namespace
}  // namespace tessera::machine
