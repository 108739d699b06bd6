// Memory without compute: how it is linked, named and reached, and what is refused.
#include "machine_from.hpp"

namespace tessera::machine {
namespace {

const std::string seven_by_eight = "kind = \"mesh\"\ncolumns = 7\nrows = 8\n" + speeds;
const std::string top_row = "links = [[0, 0], [1, 0], [2, 0], [3, 0], [4, 0], [5, 0], [6, 0]]";

TEST_CASE("a host is a device behind the accelerators, with memory of its own") {
  const Machine machine = machine_from(
      machine_text(two_servers + host("each = \"node\"\nname = \"dram\"") + host("memory_reserve = \"1 TB\"")));
  REQUIRE(machine.devices() == 11);  // eight GPUs, one host for each of two servers, one for all
  CHECK(machine.accelerators() == 8);
  CHECK(machine.hosts() == 3);
  CHECK(machine.computes(7));
  CHECK_FALSE(machine.computes(8));
  CHECK(machine.kind(7) == 0);
  CHECK(machine.kind(8) == 1);
  CHECK(machine.kind(9) == 1);
  CHECK(machine.kind(10) == 2);
  // A number over all hosts, whatever their kind; switches follow.
  CHECK(machine.node_name(9) == "dram 1");
  CHECK(machine.node_name(10) == "host 2");
  CHECK(machine.node_name(11) == "nvswitch 0");
  CHECK(machine.spec(7).memory_capacity == Bytes{1'000'000'000});
  CHECK(machine.spec(9).memory_capacity == Bytes{2'000'000'000'000});
  CHECK(machine.spec(9).memory_bandwidth.value() == 400'000'000'000);
  CHECK(machine.spec(10).usable_memory() == Bytes{1'000'000'000'000});
  CHECK(machine.places[9].node == 1);
  CHECK(machine.places[9].nic == -1);
  // Four links each way for each server's, eight for the one of all.
  const Network& network = machine.network;
  CHECK(network.first_link[10] - network.first_link[9] == 4);
  CHECK(network.first_link[11] - network.first_link[10] == 8);
  const Link& out = network.links[network.first_link[9]];
  CHECK(out.to == 4);
  CHECK(out.bandwidth.value() == 20'000'000'000);
  CHECK(out.latency.value() == microsecond);
  CHECK(network.link_classes[out.link_class] == "host");
}

TEST_CASE("on a wafer each die reaches the host over the port of its own column, and is reached over it") {
  const Machine machine = machine_from(machine_text(seven_by_eight + host(top_row)));
  CHECK(way(machine, 5 * 7 + 3, 56) ==
        Names{"die (3,5)", "die (3,4)", "die (3,3)", "die (3,2)", "die (3,1)", "die (3,0)", "host 0"});
  CHECK(way(machine, 56, 2 * 7 + 6) == Names{"host 0", "die (6,0)", "die (6,1)", "die (6,2)"});
  const Network& network = machine.network;
  for (NodeId die = 0; die < 56; ++die) {
    CHECK(network.links[Routes(network).links(die, 56).back()].from == die % 7);
    CHECK(network.links[Routes(network).links(56, die).front()].to == die % 7);
  }
  // Ways between dies are as without a host.
  const Machine bare = machine_from(machine_text(seven_by_eight));
  for (const NodeId from : {0U, 30U, 55U})
    for (NodeId to = 0; to < 56; ++to) CHECK(way(machine, from, to) == way(bare, from, to));
}

TEST_CASE("hosts of servers: over the own link, from elsewhere over the lowest GPU of their server") {
  const Machine machine = machine_from(machine_text(two_servers + host("each = \"node\"")));
  CHECK(way(machine, 6, 9) == Names{"gpu 6", "host 1"});
  CHECK(way(machine, 9, 6) == Names{"host 1", "gpu 6"});
  CHECK(way(machine, 2, 9) == Names{"gpu 2", "core", "gpu 4", "host 1"});
  // Over each of its four GPUs it takes as long to gpu 5: the lowest one.
  CHECK(way(machine, 8, 5) == Names{"host 0", "gpu 0", "core", "gpu 5"});
  CHECK(way(machine, 8, 9) == Names{"host 0", "gpu 0", "core", "gpu 4", "host 1"});
}

TEST_CASE("a switch with memory is a host behind the switch") {
  const Machine machine = machine_from(machine_text(two_servers + host("each = \"node\"\nlinks = [\"nvswitch\"]")));
  CHECK(way(machine, 1, 8) == Names{"gpu 1", "nvswitch 0", "host 0"});
  CHECK(way(machine, 9, 7) == Names{"host 1", "nvswitch 1", "gpu 7"});
  // From the other server a GPU of this one passes it on, the lowest: only GPUs have NICs.
  CHECK(way(machine, 5, 8) == Names{"gpu 5", "core", "gpu 0", "nvswitch 0", "host 0"});
  CHECK(way(machine, 8, 5) == Names{"host 0", "nvswitch 0", "gpu 0", "core", "gpu 5"});
  CHECK(way(machine, 1, 5) == Names{"gpu 1", "core", "gpu 5"});
  CHECK(machine.places[9].node == 1);
}

TEST_CASE("a host passes nothing on, however short the way through it were") {
  const std::string ring_and_host = ring6 + host("links = [\"gpu 0\", \"gpu 3\"]\nname = \"memory\"");
  const Machine healthy = machine_from(machine_text(ring_and_host));
  CHECK(way(healthy, 0, 3) == Names{"gpu 0", "gpu 1", "gpu 2", "gpu 3"});
  CHECK(way(healthy, 1, 6) == Names{"gpu 1", "gpu 0", "memory 0"});
  const Machine broken = machine_from(machine_text(ring_and_host, fault("device = 1\ndead = true")));
  CHECK(way(broken, 0, 3) == Names{"gpu 0", "gpu 5", "gpu 4", "gpu 3"});
  CHECK(way(broken, 0, 2) == Names{"gpu 0", "gpu 5", "gpu 4", "gpu 3", "gpu 2"});
  // Nothing but the host is between the halves: no way.
  CHECK(errors_of(machine_text(ring_and_host, fault("device = 1\ndead = true") + fault("device = 5\ndead = true"))) ==
        Names{"m.toml:17:1: no route from gpu 2 to gpu 0: every way leads over a dead link or a dead node"});
}

TEST_CASE("faults of hosts and of their links") {
  const std::string mesh =
      "kind = \"mesh\"\ncolumns = 3\nrows = 2\n" + speeds + host("links = [[0, 0], [1, 0], [2, 0]]");
  const Machine cut = machine_from(machine_text(mesh, fault("link = [[1, 0], \"host 0\"]\ndead = true")));
  // Over (0,0) and (2,0) it takes as long, and from (1,1) over (0,1), (2,1) and (1,0) as well: the lowest die.
  CHECK(way(cut, 1, 6) == Names{"die (1,0)", "die (0,0)", "host 0"});
  CHECK(way(cut, 4, 6) == Names{"die (1,1)", "die (1,0)", "die (0,0)", "host 0"});
  CHECK(way(cut, 6, 4) == Names{"host 0", "die (0,0)", "die (1,0)", "die (1,1)"});
  // A slow link keeps its ways.
  const Machine slow = machine_from(machine_text(mesh, fault("link = [\"host 0\", [1, 0]]\nbandwidth = 0.01")));
  CHECK(way(slow, 4, 6) == Names{"die (1,1)", "die (1,0)", "host 0"});
  CHECK(slow.network.links[Routes(slow.network).links(6, 1).front()].bandwidth.value() == 200'000'000);
  const Machine dead = machine_from(machine_text(mesh, fault("host = \"host 0\"\ndead = true")));
  CHECK_FALSE(dead.alive(6));
  CHECK(way(dead, 4, 6).empty());
  CHECK(way(dead, 4, 2) == Names{"die (1,1)", "die (2,1)", "die (2,0)"});
  CHECK(errors_of(machine_text(mesh, fault("host = \"host 1\"\ndead = true"))) ==
        Names{"m.toml:18:8: \"host\": there is no \"host 1\", allowed: \"host 0\""});
  CHECK(errors_of(machine_text(ring6, fault("host = \"host 0\"\ndead = true"))) ==
        Names{"m.toml:11:8: \"host\": this machine has no hosts"});
}

TEST_CASE("hosts that do not make sense") {
  // The table begins in line 11, keys follow from line 16 on.
  const auto refused = [](const std::string& topology, const std::string& keys) {
    return errors_of(machine_text(topology + host(keys)));
  };
  CHECK(
      refused(mesh4, "links = []") ==
      Names{"m.toml:16:9: \"links\": a host without a link, allowed: nodes such as [[0, 0], [1, 0]]; without this key "
            "it is linked to every device"});
  CHECK(
      refused(mesh4, "peak.fp16 = \"1 TFLOP/s\"") ==
      Names{"m.toml:16:1: \"peak\": a host that computes is not allowed: hosts are memory alone, devices that compute "
            "are those of [machine.device]"});
  CHECK(refused(mesh4, "links = [[0, 0], [4, 0]]") ==
        Names{"m.toml:16:18: \"links\": die (4,0) is off the wafer, allowed: (0,0) to (3,3)"});
  CHECK(refused(mesh4, "links = [[0, 0], \"die (0,0)\"]") ==
        Names{"m.toml:16:18: \"links\": die (0,0) is listed more than once"});
  CHECK(refused(mesh4, "links = [3]") ==
        Names{"m.toml:16:9: \"links\": expected nodes such as [\"gpu 0\", \"nvswitch 0\"], or coordinates such as [[2, "
              "5], [3, 5]]"});
  CHECK(refused(mesh4, "memory_reserve = \"2 TB\"") ==
        Names{"m.toml:16:18: \"memory_reserve\": 2 TB leave nothing of memory_capacity = \"2 TB\", allowed: less"});
  CHECK(refused(mesh4, "name = \"die\"") == Names{"m.toml:16:8: \"name\": other nodes are called \"die\" as well"});
  CHECK(refused(mesh4, "each = \"die\"") ==
        Names{"m.toml:16:8: \"each\": unknown choice \"die\", allowed: machine, node"});
  CHECK(errors_of(machine_text(two_servers + host("links = [\"gpu 9\"]"))) ==
        Names{"m.toml:18:10: \"links\": there is no \"gpu 9\", allowed: \"gpu 0\" to \"gpu 7\", \"nvswitch 0\" to "
              "\"nvswitch 1\", \"core\""});
  CHECK(
      errors_of(machine_text(two_servers + host("each = \"node\"\nlinks = [\"gpu 0\"]"))) ==
      Names{"m.toml:19:10: \"links\": gpu 0 is not in node 1, and with each = \"node\" a host is linked to its own one "
            "alone"});
  CHECK(
      errors_of(machine_text(two_servers + host("each = \"node\"\nlinks = [\"core\"]"))) ==
      Names{"m.toml:19:10: \"links\": core is not in node 0, and with each = \"node\" a host is linked to its own one "
            "alone"});
  CHECK(errors_of(machine_text("kind = \"package\"\nchiplets = 2\n" + speeds + "[machine.host]\nname = \"host\"\n")) ==
        Names{"m.toml:10:1: \"host\": a table is not allowed here, expected tables [[machine.host]]"});
}

}  // namespace
}  // namespace tessera::machine
