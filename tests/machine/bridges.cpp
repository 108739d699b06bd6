// Hosts whose links share a bandwidth: the bridge between, ways over it, and what is refused.
#include "machine_from.hpp"

namespace tessera::machine {
namespace {

TEST_CASE("a bridge is a switch behind the machine's own, with one link to its host and one to each end") {
  const Machine machine =
      machine_from(machine_text(two_servers + host("") + bridged("links = [\"gpu 1\", \"gpu 6\"]")));
  // Eight GPUs, two hosts, three switches of the cluster.
  CHECK(machine.devices() == 10);
  CHECK(machine.network.switches == 4);
  CHECK(machine.network.bridges == 1);
  const NodeId bridge = 13, host = 9;
  CHECK(machine.node_name(bridge) == "bridge of host 1");
  CHECK(machine.network.is_bridge(bridge));
  CHECK_FALSE(machine.network.is_bridge(bridge - 1));
  CHECK(machine.network.host_of(bridge) == host);
  const auto links_of = [&](NodeId node) {
    return machine.network.first_link[node + 1] - machine.network.first_link[node];
  };
  CHECK(links_of(host) == 1);
  CHECK(links_of(bridge) == 3);
  const Link &out = link_between(machine, host, bridge), &in = link_between(machine, 6, bridge);
  CHECK(out.bandwidth.value() == 160'000'000'000);
  CHECK(in.bandwidth.value() == 20'000'000'000);
  CHECK(machine.network.link_classes[out.link_class] == "host");
  CHECK(machine.network.link_classes[in.link_class] == "bridge");
}

TEST_CASE("the latency from a host to an end is shared, and the hop to the bridge gets the odd picosecond") {
  const Machine machine = machine_from(machine_text(
      ring6 +
      "[[machine.host]]\nmemory_capacity = \"2 TB\"\nmemory_bandwidth = \"400 GB/s\"\nbridge_bandwidth = \"160 "
      "GB/s\"\nbandwidth = \"20 GB/s\"\nlatency = \"1001 ps\"\n"));
  const NodeId host = 6, bridge = 7;
  CHECK(link_between(machine, host, bridge).latency.value() == 501);
  CHECK(link_between(machine, bridge, 0).latency.value() == 500);
  CHECK(link_between(machine, 0, bridge).latency.value() == 501);
  CHECK(link_between(machine, bridge, host).latency.value() == 500);
}

TEST_CASE("on a wafer each die reaches the bridge over its own column, and is reached over it") {
  const std::string wafer = "kind = \"mesh\"\ncolumns = 7\nrows = 8\n" + speeds;
  const Machine machine =
      machine_from(machine_text(wafer + bridged("links = [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0], [5, 0], [6, 0]]")));
  CHECK(way(machine, 2 * 7 + 3, 56) == Names{"die (3,2)", "die (3,1)", "die (3,0)", "bridge of host 0", "host 0"});
  CHECK(way(machine, 56, 2 * 7 + 6) == Names{"host 0", "bridge of host 0", "die (6,0)", "die (6,1)", "die (6,2)"});
  const Machine bare = machine_from(machine_text(wafer));
  for (NodeId die = 0; die < 56; ++die) {
    const auto out = Routes(machine.network).links(56, die);
    CHECK(machine.network.links[out[1]].to == die % 7);
    CHECK(way(machine, die, 56).size() == die / 7 + 3);
    for (const NodeId to : {0U, 6U, 30U, 55U}) CHECK(way(machine, die, to) == way(bare, die, to));
  }
}

TEST_CASE("one bridge for each server, at GPUs or at a switch") {
  const Machine at_gpus = machine_from(machine_text(two_servers + bridged("each = \"node\"")));
  CHECK(way(at_gpus, 6, 9) == Names{"gpu 6", "bridge of host 1", "host 1"});
  // Over each of its four GPUs it takes as long to gpu 5: the lowest one.
  CHECK(way(at_gpus, 8, 5) == Names{"host 0", "bridge of host 0", "gpu 0", "core", "gpu 5"});
  CHECK(way(at_gpus, 8, 9) ==
        Names{"host 0", "bridge of host 0", "gpu 0", "core", "gpu 4", "bridge of host 1", "host 1"});
  const Machine at_switches =
      machine_from(machine_text(two_servers + bridged("each = \"node\"\nlinks = [\"nvswitch\"]")));
  CHECK(way(at_switches, 1, 8) == Names{"gpu 1", "nvswitch 0", "bridge of host 0", "host 0"});
  CHECK(way(at_switches, 8, 5) == Names{"host 0", "bridge of host 0", "nvswitch 0", "gpu 0", "core", "gpu 5"});
  CHECK(at_switches.places[9].node == 1);
}

TEST_CASE("a bridge passes on only what its host sends and receives, however short the way over it were") {
  // A hop on the ring takes longer than the two over a bridge.
  const std::string slow_ring = "kind = \"ring\"\ndevices = 6\nbandwidth = \"100 GB/s\"\nlatency = \"5 us\"\n";
  const std::string two = slow_ring + bridged("links = [\"gpu 0\", \"gpu 3\"]") + bridged("links = [\"gpu 3\"]");
  const Machine healthy = machine_from(machine_text(two));
  const NodeId first = 6, second = 7;
  CHECK(way(healthy, 0, 3) == Names{"gpu 0", "gpu 1", "gpu 2", "gpu 3"});
  CHECK(way(healthy, 0, second) == Names{"gpu 0", "gpu 1", "gpu 2", "gpu 3", "bridge of host 1", "host 1"});
  CHECK(way(healthy, second, 0) == Names{"host 1", "bridge of host 1", "gpu 3", "gpu 4", "gpu 5", "gpu 0"});
  CHECK(way(healthy, first, second) == Names{"host 0", "bridge of host 0", "gpu 3", "bridge of host 1", "host 1"});
  const Machine broken = machine_from(machine_text(two, fault("device = 1\ndead = true")));
  CHECK(way(broken, 0, 3) == Names{"gpu 0", "gpu 5", "gpu 4", "gpu 3"});
  // Nothing but the bridge is between the halves: no way.
  CHECK(errors_of(machine_text(two, fault("device = 1\ndead = true") + fault("device = 5\ndead = true"))) ==
        Names{"m.toml:24:1: no route from gpu 2 to gpu 0: every way leads over a dead link or a dead node"});
}

TEST_CASE("faults of bridges and of their links") {
  const std::string mesh =
      "kind = \"mesh\"\ncolumns = 3\nrows = 2\n" + speeds + bridged("links = [[0, 0], [1, 0], [2, 0]]");
  const Machine cut = machine_from(machine_text(mesh, fault("link = [[1, 0], \"bridge of host 0\"]\ndead = true")));
  // Over (0,0) and (2,0) it takes as long: the lowest die.
  CHECK(way(cut, 1, 6) == Names{"die (1,0)", "die (0,0)", "bridge of host 0", "host 0"});
  CHECK(way(cut, 6, 4) == Names{"host 0", "bridge of host 0", "die (0,0)", "die (1,0)", "die (1,1)"});
  CHECK(way(cut, 6, 5) == Names{"host 0", "bridge of host 0", "die (2,0)", "die (2,1)"});
  const Machine slow = machine_from(machine_text(mesh, fault("link = [\"host 0\", \"bridge of host 0\"]\n"
                                                             "bandwidth = 0.5")));
  CHECK(link_between(slow, 6, 7).bandwidth.value() == 80'000'000'000);
  CHECK(link_between(slow, 7, 6).bandwidth.value() == 80'000'000'000);
  // A host without its bridge is cut off, one that is dead itself is not asked for.
  const std::string no_bridge = fault("switch = \"bridge of host 0\"\ndead = true");
  CHECK(errors_of(machine_text(mesh, no_bridge)) ==
        Names{"m.toml:18:1: no route from host 0 to die (0,0): every way leads over a dead link or a dead node"});
  const Machine dead = machine_from(machine_text(mesh, no_bridge + fault("host = \"host 0\"\ndead = true")));
  CHECK_FALSE(dead.alive(6));
  CHECK(way(dead, 4, 6).empty());
  CHECK(way(dead, 4, 2) == Names{"die (1,1)", "die (2,1)", "die (2,0)"});
  CHECK(errors_of(machine_text(mesh, fault("switch = \"bridge\"\ndead = true"))) ==
        Names{"m.toml:19:10: \"switch\": there is no \"bridge\", allowed: \"bridge of host 0\""});
}

TEST_CASE("bridges that do not make sense") {
  // The table begins in line 10; its keys stand in one line each.
  const auto refused = [](const std::string& bandwidth, const std::string& latency) {
    return errors_of(machine_text(ring6 +
                                  "[[machine.host]]\nmemory_capacity = \"2 TB\"\nmemory_bandwidth = \"400 "
                                  "GB/s\"\nbandwidth = \"20 GB/s\"\nbridge_bandwidth = " +
                                  bandwidth + "\nlatency = " + latency + "\n"));
  };
  CHECK(refused("\"160 GB/s\"", "\"2 ps\"") == Names{});
  CHECK(refused("\"160 GB/s\"", "\"1 ps\"") ==
        Names{"m.toml:15:11: \"latency\": 1 ps are not enough for two links, one on either side of the bridge, allowed "
              "with bridge_bandwidth: at least 2 ps"});
  CHECK(refused("\"0 B/s\"", "\"1 us\"") ==
        Names{"m.toml:14:20: \"bridge_bandwidth\": \"0 B/s\" is out of range, allowed: at least 1 B/s"});
  CHECK(refused("\"160 GB\"", "\"1 us\"") ==
        Names{"m.toml:14:20: \"bridge_bandwidth\": \"160 GB\" is a size, expected a bandwidth such as \"150 GB/s\""});
  CHECK(refused("true", "\"1 us\"") ==
        Names{"m.toml:14:20: \"bridge_bandwidth\": a boolean is not allowed here, expected a bandwidth such as \"150 "
              "GB/s\""});
  // A bridge is its host's own: no other one hangs on it.
  CHECK(errors_of(machine_text(two_servers + bridged("") + host("links = [\"bridge of host 0\"]"))) ==
        Names{"m.toml:25:10: \"links\": there is no \"bridge of host 0\", allowed: \"gpu 0\" to \"gpu 7\", \"nvswitch "
              "0\" to \"nvswitch 1\", \"core\""});
}

}  // namespace
}  // namespace tessera::machine
