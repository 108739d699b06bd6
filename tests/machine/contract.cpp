// One contract for every topology, healthy and with faults.
#include <set>

#include "machine_from.hpp"

namespace tessera::machine {
namespace {

struct Case {
  std::string topology;
  std::string faults;
  std::size_t most_hops;
};

const std::string nodes =
    "nvlink_bandwidth = \"300 GB/s\"\nnvlink_latency = \"600 ns\"\nnic_bandwidth = \"25 GB/s\"\nnic_latency = \"2 "
    "us\"\n";

std::vector<Case> cases() {
  const std::string cluster = "kind = \"cluster\"\n" + nodes;
  const std::string tree = cluster + "fabric = \"fat-tree\"\nnodes_per_leaf = 2\nspines = 3\n";
  const std::string rails = cluster + "fabric = \"rail-optimised\"\nnodes_per_leaf = 2\nspines = 3\n";
  const std::string spined = rails + "pxn = false\n";
  const std::string shared = "nics_per_node = 2\npcie_bandwidth = \"32 GB/s\"\n";
  const std::string wafers = "kind = \"wafers\"\nwafers = 3\ncolumns = 3\nrows = 2\n" + speeds +
                             "wafer_bandwidth = \"50 GB/s\"\nwafer_latency = \"300 ns\"\n";
  const std::string switched = "kind = \"mesh-switch\"\nmeshes = 4\ncolumns = 2\nrows = 3\n" + speeds +
                               "switch_bandwidth = \"60 GB/s\"\nswitch_latency = \"401 ns\"\n";
  const std::string torus3d = "kind = \"torus-3d\"\n";
  const std::string dragonfly =
      "kind = \"dragonfly\"\ndevice_bandwidth = \"25 GB/s\"\ndevice_latency = \"1 us\"\nlocal_bandwidth = \"50 "
      "GB/s\"\nlocal_latency = \"300 ns\"\nglobal_bandwidth = \"25 GB/s\"\nglobal_latency = \"900 ns\"\n";
  const auto dead = [](const std::string& what) { return "[[machine.fault]]\n" + what + "\ndead = true\n"; };
  return {
      {"kind = \"ring\"\ndevices = 1\n" + speeds, "", 0},
      {"kind = \"ring\"\ndevices = 2\n" + speeds, "", 1},
      {"kind = \"ring\"\ndevices = 9\n" + speeds, "", 4},
      {"kind = \"ring\"\ndevices = 8\n" + speeds, "", 4},
      {"kind = \"ring\"\ndevices = 8\n" + speeds, dead("link = [\"gpu 3\", \"gpu 4\"]"), 7},
      {"kind = \"ring\"\ndevices = 8\n" + speeds, dead("device = 5"), 6},
      {"kind = \"ring\"\ndevices = 5\ndirection = \"up\"\n" + speeds, "", 4},
      {"kind = \"package\"\nchiplets = 7\n" + speeds, "", 6},
      {"kind = \"mesh\"\ncolumns = 5\nrows = 4\n" + speeds, "", 7},
      {"kind = \"mesh\"\ncolumns = 1\nrows = 6\n" + speeds, "", 5},
      {"kind = \"mesh\"\ncolumns = 5\nrows = 4\n" + speeds, dead("die = [2, 1]") + dead("link = [[0, 0], [1, 0]]"), 9},
      {"kind = \"torus\"\ncolumns = 5\nrows = 4\n" + speeds, "", 4},
      {"kind = \"torus\"\ncolumns = 2\nrows = 2\n" + speeds, "", 2},
      {"kind = \"torus\"\ncolumns = 1\nrows = 5\n" + speeds, "", 2},
      {"kind = \"torus\"\ncolumns = 4\nrows = 4\n" + speeds, dead("die = [1, 1]") + dead("die = [2, 2]"), 6},
      // 2 + 1 + 2 hops apart at most, and with a dimension of one place none along it.
      {torus3d + "columns = 4\nrows = 3\nplanes = 5\n" + speeds, "", 5},
      {torus3d + "columns = 2\nrows = 2\nplanes = 2\n" + speeds, "", 3},
      {torus3d + "columns = 4\nrows = 1\nplanes = 3\n" + speeds + "plane_bandwidth = \"9 GB/s\"\n", "", 3},
      {torus3d + "columns = 1\nrows = 1\nplanes = 1\n" + speeds, "", 0},
      // Round what is dead: two hops more where the straight way is blocked, the farthest pair has others.
      {torus3d + "columns = 4\nrows = 3\nplanes = 3\n" + speeds,
       dead("die = [1, 1, 1]") + dead("link = [[0, 0, 0], [0, 0, 1]]"), 5},
      // To the router, in the group, to the other group, in that, and to the device.
      {dragonfly + "groups = 3\nrouters_per_group = 2\ndevices_per_router = 2\n", "", 5},
      {dragonfly + "groups = 5\nrouters_per_group = 3\ndevices_per_router = 1\nglobal_links = 2\n", "", 5},
      {dragonfly + "groups = 3\nrouters_per_group = 4\ndevices_per_router = 2\nglobal_links = 1\n", "", 5},
      {dragonfly + "groups = 1\nrouters_per_group = 4\ndevices_per_router = 2\n", "", 3},
      {dragonfly + "groups = 4\nrouters_per_group = 1\ndevices_per_router = 3\nglobal_links = 3\n", "", 3},
      // Without the link between two groups messages go over a third one: one group and one hop inside it more.
      {dragonfly + "groups = 3\nrouters_per_group = 2\ndevices_per_router = 2\n",
       dead("link = [\"router 0\", \"router 3\"]"), 7},
      {dragonfly + "groups = 4\nrouters_per_group = 3\ndevices_per_router = 2\n",
       dead("device = 5") + dead("link = [\"router 0\", \"router 1\"]"), 6},
      {cluster + "nodes = 1\ngpus_per_node = 8\n", "", 2},
      {cluster + "nodes = 5\ngpus_per_node = 1\n", "", 2},
      {cluster + "nodes = 3\ngpus_per_node = 4\n", "", 2},
      {cluster + "nodes = 3\ngpus_per_node = 4\n", dead("link = [\"gpu 1\", \"core\"]"), 4},
      {cluster + "nodes = 3\ngpus_per_node = 4\n", dead("switch = \"nvswitch 1\""), 2},
      {cluster + "nodes = 2\ngpus_per_node = 5\ninside = \"ring\"\n", "", 2},
      {cluster + "nodes = 2\ngpus_per_node = 2\ninside = \"ring\"\n", "", 2},
      {cluster + "nodes = 2\ngpus_per_node = 4\ninside = \"fully-connected\"\n", "", 2},
      {cluster + "nodes = 3\ngpus_per_node = 4\n" + shared, "", 4},
      {cluster + "nodes = 3\ngpus_per_node = 4\n" + shared, dead("switch = \"nic 2\""), 6},
      {tree + "nodes = 5\ngpus_per_node = 4\n", "", 4},
      {tree + "nodes = 5\ngpus_per_node = 4\n", dead("switch = \"spine 1\"") + dead("device = 7"), 4},
      {tree + "nodes = 5\ngpus_per_node = 4\ninside = \"ring\"\n" + shared, "", 6},
      {tree + "nodes = 2\ngpus_per_node = 3\n", "", 2},
      // Farthest over rails: inside the node to another rail (2 hops over a switch, 2 on a ring of 4), and from its
      // leaf over a spine to that of other nodes (4). Without pxn the spine alone, and 2 hops more where NICs are
      // shared.
      {rails + "nodes = 5\ngpus_per_node = 4\n", "", 6},
      {spined + "nodes = 5\ngpus_per_node = 4\n", "", 4},
      {rails + "nodes = 2\ngpus_per_node = 4\n", "", 4},
      {rails + "nodes = 5\ngpus_per_node = 1\n", "", 4},
      {rails + "nodes = 5\ngpus_per_node = 4\ninside = \"ring\"\n", "", 6},
      {rails + "nodes = 5\ngpus_per_node = 4\ninside = \"fully-connected\"\n", "", 5},
      {rails + "nodes = 5\ngpus_per_node = 4\n" + shared, "", 8},
      {spined + "nodes = 5\ngpus_per_node = 4\n" + shared, "", 6},
      // Whose rail is dead goes by that of a neighbour; to one whose rail is dead, a neighbour passes on.
      {rails + "nodes = 5\ngpus_per_node = 4\n", dead("switch = \"leaf 5\"") + dead("device = 7"), 6},
      {spined + "nodes = 5\ngpus_per_node = 4\n", dead("switch = \"spine 1\"") + dead("link = [\"gpu 1\", \"leaf 1\"]"),
       6},
      // Three wafers of 3 x 2: 8 columns and a row apart at most. A dead joint in row 0 is passed in row 1 (a way of
      // its own row: two hops more, and the farthest pair goes down anyway).
      {wafers, "", 9},
      {wafers, dead("link = [[2, 0, 0], [0, 0, 1]]"), 10},
      {wafers, dead("die = [1, 1, 1]") + dead("link = [\"die (2,1) of wafer 1\", \"die (0,1) of wafer 2\"]"), 11},
      // Four meshes of 2 x 3: 3 hops inside, two over the switch. Without the own link there is a neighbour's; a
      // neighbour inside a mesh whose link is gone is reached over the switch at most.
      {switched, "", 3},
      {switched, dead("link = [\"die (0,0) of mesh 1\", \"switch\"]"), 3},
      {switched, dead("die = [0, 1, 2]") + dead("link = [[1, 1, 2], [1, 2, 2]]"), 3},
      // Memory on the top row: three rows down and one host; the bottom corners are six hops apart as before.
      {mesh4 + host("links = [[0, 0], [1, 0], [2, 0], [3, 0]]"), "", 6},
      {mesh4 + host("links = [[0, 0], [1, 0], [2, 0], [3, 0]]"), dead("die = [1, 0]") + dead("link = [[3, 0], [3, 1]]"),
       9},
      {mesh4 + host("") + host("links = [[3, 3]]"), dead("host = \"host 0\""), 7},
      {ring6 + host("links = [\"gpu 2\", \"gpu 5\"]"), dead("link = [\"gpu 2\", \"host 0\"]"), 4},
      {cluster + "nodes = 3\ngpus_per_node = 4\n" + host("each = \"node\""), "", 4},
      {cluster + "nodes = 3\ngpus_per_node = 4\n" + host("each = \"node\""), dead("link = [\"gpu 1\", \"core\"]"), 5},
      {cluster + "nodes = 3\ngpus_per_node = 4\n" + host("links = [\"nvswitch 1\"]"), "", 5},
      {cluster + "nodes = 3\ngpus_per_node = 4\n" + host("links = [\"nvswitch 1\"]"), dead("switch = \"nvswitch 0\""),
       5},
      {tree + "nodes = 5\ngpus_per_node = 2\n" + host("links = [\"spine 1\"]"), "", 4},
      {rails + "nodes = 5\ngpus_per_node = 2\n" + host("links = [\"leaf 1\"]"), "", 6},
      {switched + host("each = \"node\"\nlinks = [[0, 0]]"), "", 8},
      // As above, with a hop more to a bridge and from one.
      {mesh4 + bridged("links = [[0, 0], [1, 0], [2, 0], [3, 0]]"), "", 6},
      {mesh4 + bridged("links = [[0, 0], [1, 0], [2, 0], [3, 0]]"),
       dead("die = [1, 0]") + dead("link = [[3, 0], [3, 1]]"), 9},
      {mesh4 + bridged("") + bridged("links = [[3, 3]]"), dead("link = [[3, 3], \"bridge of host 0\"]"), 8},
      {mesh4 + host("") + bridged("links = [[3, 3]]"), dead("host = \"host 0\""), 8},
      {ring6 + bridged("links = [\"gpu 2\", \"gpu 5\"]"), dead("link = [\"gpu 2\", \"bridge of host 0\"]"), 5},
      {cluster + "nodes = 3\ngpus_per_node = 4\n" + bridged("each = \"node\""), "", 6},
      {cluster + "nodes = 3\ngpus_per_node = 4\n" + bridged("each = \"node\""), dead("link = [\"gpu 1\", \"core\"]"),
       7},
      {cluster + "nodes = 3\ngpus_per_node = 4\n" + bridged("links = [\"nvswitch 1\"]"),
       dead("switch = \"nvswitch 0\""), 6},
      {tree + "nodes = 5\ngpus_per_node = 2\n" + bridged("links = [\"spine 1\"]"), "", 5},
      {switched + bridged("each = \"node\"\nlinks = [[0, 0]]"), "", 10},
  };
}

void check_links(const Machine& machine) {
  const Network& network = machine.network;
  REQUIRE(network.first_link.size() == network.nodes() + 1);
  CHECK(network.first_link.front() == 0);
  CHECK(network.first_link.back() == network.links.size());
  CHECK(network.switch_names.size() == network.switches);
  CHECK(network.packet == Bytes{1000});
  for (NodeId node = 0; node < network.nodes(); ++node) {
    REQUIRE(network.first_link[node] <= network.first_link[node + 1]);
    for (LinkId link = network.first_link[node]; link < network.first_link[node + 1]; ++link) {
      const Link& it = network.links[link];
      CHECK(it.from == node);
      CHECK(it.to < network.nodes());
      CHECK(it.to != node);
      CHECK(it.bandwidth.value() > 0);
      CHECK(it.latency.value() >= 0);
      CHECK(it.link_class < network.link_classes.size());
    }
  }
}

void check_devices(const Machine& machine) {
  REQUIRE(machine.places.size() == machine.devices());
  REQUIRE(machine.speed.size() == machine.devices());
  std::set<std::string> names;
  for (NodeId node = 0; node < machine.network.nodes(); ++node) names.insert(machine.node_name(node));
  CHECK(names.size() == machine.network.nodes());
}

void check_route(const Machine& machine, NodeId from, NodeId to, std::size_t most_hops) {
  const auto links = Routes(machine.network).links(from, to);
  INFO(machine.node_name(from) << " to " << machine.node_name(to));
  REQUIRE(!links.empty());
  CHECK(links.size() <= most_hops);
  std::set<NodeId> seen{from};
  NodeId at = from;
  for (const LinkId link : links) {
    const Link& it = machine.network.links[link];
    CHECK(it.from == at);
    CHECK(!it.dead);
    at = it.to;
    CHECK(seen.insert(at).second);
    CHECK((at >= machine.devices() || machine.alive(at)));
    CHECK((at == to || machine.network.passes_on(at, from, to)));
  }
  CHECK(at == to);
}

TEST_CASE("every topology keeps the contract of networks and routes") {
  for (const Case& it : cases()) {
    INFO(it.topology << it.faults);
    const Machine machine = machine_from(machine_text(it.topology, it.faults));
    check_links(machine);
    check_devices(machine);
    for (NodeId from = 0; from < machine.devices(); ++from) {
      for (NodeId to = 0; to < machine.devices(); ++to) {
        if (from == to || !machine.alive(from) || !machine.alive(to)) {
          CHECK(machine.network.router->next(from, to) == no_link);
        } else {
          check_route(machine, from, to, it.most_hops);
        }
      }
    }
  }
}

TEST_CASE("every kind of topology has a case, a help text and a schema of its own") {
  for (const TopologyKind& kind : built_in_topologies()) {
    CHECK(kind.schema().path() == "machine.topology." + kind.name);
    CHECK(!kind.help.empty());
    bool found = false;
    for (const Case& it : cases()) found = found || it.topology.find("\"" + kind.name + "\"") != std::string::npos;
    CHECK(found);
  }
}

}  // namespace
}  // namespace tessera::machine
