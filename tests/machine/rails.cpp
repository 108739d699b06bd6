// Rail-optimised fabrics, solved by hand.
#include <map>

#include "machine_from.hpp"

namespace tessera::machine {
namespace {

std::string rails_of(const std::string& keys) {
  return "kind = \"cluster\"\nnvlink_bandwidth = \"300 GB/s\"\nnvlink_latency = \"601 ps\"\n"
         "nic_bandwidth = \"25 GB/s\"\nnic_latency = \"2 us\"\nfabric = \"rail-optimised\"\n" +
         keys;
}

/// Two groups of two nodes of four GPUs: leaves 0 to 3 are those of nodes 0 and 1 (GPUs 0 to 7), 4 to 7 those of nodes
/// 2 and 3. GPU 4 n + i has leaf i, or 4 + i.
const std::string two_groups = "nodes = 4\ngpus_per_node = 4\nnodes_per_leaf = 2\nspines = 2\n";

TEST_CASE("rails: what stays on its rail takes one leaf, other nodes' leaves are reached over a spine") {
  for (const char* pxn : {"pxn = true\n", "pxn = false\n"}) {
    const Machine it = machine_from(machine_text(rails_of(two_groups + pxn)));
    CHECK(way(it, 1, 5) == Names{"gpu 1", "leaf 1", "gpu 5"});
    CHECK(way(it, 7, 3) == Names{"gpu 7", "leaf 3", "gpu 3"});
    // Inside a node nothing sees the rails.
    CHECK(way(it, 1, 2) == Names{"gpu 1", "nvswitch 0", "gpu 2"});
    // Spine (node + rail) modulo 2: GPU 9 is rail 1 of node 2, GPU 13 that of node 3.
    CHECK(way(it, 1, 9) == Names{"gpu 1", "leaf 1", "spine 1", "leaf 5", "gpu 9"});
    CHECK(way(it, 5, 13) == Names{"gpu 5", "leaf 1", "spine 0", "leaf 5", "gpu 13"});
  }
}

TEST_CASE("rails: without pxn another rail is reached over a spine, with it over NVLink") {
  const Machine spines = machine_from(machine_text(rails_of(two_groups + "pxn = false\n")));
  CHECK(way(spines, 0, 7) == Names{"gpu 0", "leaf 0", "spine 0", "leaf 3", "gpu 7"});
  CHECK(way(spines, 0, 14) == Names{"gpu 0", "leaf 0", "spine 1", "leaf 6", "gpu 14"});
  const Machine pxn = machine_from(machine_text(rails_of(two_groups)));
  CHECK(way(pxn, 0, 7) == Names{"gpu 0", "nvswitch 0", "gpu 3", "leaf 3", "gpu 7"});
  CHECK(way(pxn, 0, 14) == Names{"gpu 0", "nvswitch 0", "gpu 2", "leaf 2", "spine 1", "leaf 6", "gpu 14"});
  const Machine ring = machine_from(machine_text(rails_of(two_groups + "inside = \"ring\"\n")));
  CHECK(way(ring, 0, 6) == Names{"gpu 0", "gpu 1", "gpu 2", "leaf 2", "gpu 6"});
}

TEST_CASE("rails: a leaf has a NIC of each node, the leaves of the last nodes have fewer") {
  // Three groups: nodes 0 and 1, 2 and 3, and 4 alone, with two leaves each. Eight switches, of which two are spines.
  const Machine it =
      machine_from(machine_text(rails_of("nodes = 5\ngpus_per_node = 2\nnodes_per_leaf = 2\nspines = 2\n"
                                         "inside = \"ring\"\nspine_latency = \"300 ns\"\noversubscription = 4\n")));
  CHECK(it.network.switches == 8);
  std::map<std::string, std::size_t> ports;
  for (const Link& link : it.network.links)
    if (link.from >= it.devices() && link.to < it.devices()) ++ports[it.node_name(link.from)];
  CHECK(ports == std::map<std::string, std::size_t>{
                     {"leaf 0", 2}, {"leaf 1", 2}, {"leaf 2", 2}, {"leaf 3", 2}, {"leaf 4", 1}, {"leaf 5", 1}});
  CHECK(way(it, 3, 9) == Names{"gpu 3", "leaf 1", "spine 1", "leaf 5", "gpu 9"});
  CHECK(way(it, 9, 3) == Names{"gpu 9", "leaf 5", "spine 0", "leaf 1", "gpu 3"});
  // Two NICs of 25 GB/s below a full leaf, over-subscribed by 4: 12.5 GB/s over two spines. The last leaf has as much.
  for (const auto& [from, to] : {std::pair<NodeId, NodeId>{3, 9}, {9, 3}}) {
    const Link& up = it.network.links[Routes(it.network).links(from, to)[1]];
    CHECK(up.bandwidth.value() == 6'250'000'000);
    CHECK(up.latency.value() == 300 * nanosecond);
    CHECK(it.network.link_classes[up.link_class] == "fabric");
  }
}

TEST_CASE("rails: as many as a node has NICs, and GPUs that share a NIC share its rail") {
  // GPUs 0 and 1 have NIC 0, on leaf 0; 2 and 3 NIC 1, on leaf 1; node 1 has NICs 2 and 3.
  const Machine it = machine_from(machine_text(
      rails_of("nodes = 2\ngpus_per_node = 4\nnodes_per_leaf = 2\nnics_per_node = 2\npcie_bandwidth = \"32 GB/s\"\n")));
  CHECK(way(it, 1, 4) == Names{"gpu 1", "nic 0", "leaf 0", "nic 2", "gpu 4"});
  CHECK(way(it, 1, 6) == Names{"gpu 1", "nvswitch 0", "gpu 2", "nic 1", "leaf 1", "nic 3", "gpu 6"});
  // With a NIC a node there is one rail, and one leaf is all that there is.
  const Machine one = machine_from(machine_text(
      rails_of("nodes = 2\ngpus_per_node = 2\nnodes_per_leaf = 8\nnics_per_node = 1\npcie_bandwidth = \"32 GB/s\"\n")));
  CHECK(way(one, 1, 2) == Names{"gpu 1", "nic 0", "core", "nic 1", "gpu 2"});
}

TEST_CASE("rails: what goes from one group of nodes to another spreads evenly over the spines") {
  // 4 groups of 8 nodes with 8 rails and 4 spines: each GPU sends to the one 8 nodes further on, of its own rail and of
  // the next one. A leaf has 8 uplinks' worth of messages for 4 spines: two a link, up and down alike.
  const Machine it = machine_from(
      machine_text(rails_of("nodes = 32\ngpus_per_node = 8\nnodes_per_leaf = 8\nspines = 4\npxn = false\n")));
  for (const NodeId turn : {0, 1}) {
    std::map<LinkId, int> messages;
    for (NodeId gpu = 0; gpu < 256; ++gpu) {
      const NodeId to = (gpu / 8 + 8) % 32 * 8 + (gpu + turn) % 8;
      for (const LinkId link : Routes(it.network).links(gpu, to)) ++messages[link];
    }
    for (const auto& [link, count] : messages)
      CHECK(count == (it.network.link_classes[it.network.links[link].link_class] == "fabric" ? 2 : 1));
    // Of each GPU's two links to and from its leaf, and all 32 leaves' four each way.
    CHECK(messages.size() == 2 * 256 + 2 * 32 * 4);
  }
}

TEST_CASE("rails: a GPU whose rail is dead goes by a neighbour's") {
  const std::string dead = "[[machine.fault]]\nswitch = \"leaf 1\"\ndead = true\n";
  const Machine it = machine_from(machine_text(rails_of(two_groups), dead));
  // Rail 1 of nodes 0 and 1 is gone: their GPUs 1 and 5 are reached through GPU 0 or 4, others go as before.
  CHECK(way(it, 1, 5) == Names{"gpu 1", "nvswitch 0", "gpu 0", "leaf 0", "gpu 4", "nvswitch 1", "gpu 5"});
  CHECK(way(it, 0, 4) == Names{"gpu 0", "leaf 0", "gpu 4"});
  CHECK(way(it, 9, 13) == Names{"gpu 9", "leaf 5", "gpu 13"});
}

}  // namespace
}  // namespace tessera::machine
