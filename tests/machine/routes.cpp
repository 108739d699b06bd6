// Routes solved by hand, on healthy machines.
#include "machine_from.hpp"

namespace tessera::machine {
namespace {

std::string nodes_of(const std::string& keys) {
  return "kind = \"cluster\"\nnvlink_bandwidth = \"300 GB/s\"\nnvlink_latency = \"601 ps\"\n"
         "nic_bandwidth = \"25 GB/s\"\nnic_latency = \"2 us\"\n" +
         keys;
}

TEST_CASE("ring routes take the shorter way, upwards on a tie") {
  const Machine ring = machine_from(machine_text("kind = \"ring\"\ndevices = 6\n" + speeds));
  CHECK(way(ring, 0, 2) == Names{"gpu 0", "gpu 1", "gpu 2"});
  CHECK(way(ring, 0, 4) == Names{"gpu 0", "gpu 5", "gpu 4"});
  // Three hops either way: upwards.
  CHECK(way(ring, 1, 4) == Names{"gpu 1", "gpu 2", "gpu 3", "gpu 4"});
  CHECK(way(ring, 4, 1) == Names{"gpu 4", "gpu 5", "gpu 0", "gpu 1"});
  CHECK(way(ring, 3, 3).empty());
}

TEST_CASE("a ring upwards only goes all the way round") {
  const Machine ring = machine_from(machine_text("kind = \"ring\"\ndevices = 4\ndirection = \"up\"\n" + speeds));
  CHECK(ring.network.links.size() == 4);
  CHECK(way(ring, 2, 1) == Names{"gpu 2", "gpu 3", "gpu 0", "gpu 1"});
  const Machine package = machine_from(machine_text("kind = \"package\"\nchiplets = 3\n" + speeds));
  CHECK(way(package, 1, 0) == Names{"chiplet 1", "chiplet 2", "chiplet 0"});
}

TEST_CASE("small rings have no link twice") {
  const Machine two = machine_from(machine_text("kind = \"ring\"\ndevices = 2\n" + speeds));
  CHECK(two.network.links.size() == 2);
  CHECK(way(two, 1, 0) == Names{"gpu 1", "gpu 0"});
  const Machine one = machine_from(machine_text("kind = \"ring\"\ndevices = 1\n" + speeds));
  CHECK(one.network.links.empty());
}

TEST_CASE("mesh routes go along the row first") {
  // Device y * 4 + x: 1 is (1,0), 11 is (3,2).
  const Machine mesh = machine_from(machine_text("kind = \"mesh\"\ncolumns = 4\nrows = 3\n" + speeds));
  CHECK(way(mesh, 1, 11) == Names{"die (1,0)", "die (2,0)", "die (3,0)", "die (3,1)", "die (3,2)"});
  CHECK(way(mesh, 11, 1) == Names{"die (3,2)", "die (2,2)", "die (1,2)", "die (1,1)", "die (1,0)"});
  // Links: 3 rows x 3 pairs + 4 columns x 2 pairs, both ways: 2 x (9 + 8) = 34.
  CHECK(mesh.network.links.size() == 34);
  CHECK(mesh.grid.columns == 4);
  CHECK(mesh.grid.rows == 3);
  CHECK(mesh.places[11].x == 3);
  CHECK(mesh.places[11].y == 2);
}

TEST_CASE("torus routes wrap where that is shorter") {
  const Machine torus = machine_from(machine_text("kind = \"torus\"\ncolumns = 5\nrows = 4\n" + speeds));
  // (0,0) to (3,3): three east or two west; three south or one north.
  CHECK(way(torus, 0, 18) == Names{"chip (0,0)", "chip (4,0)", "chip (3,0)", "chip (3,3)"});
  // (0,0) to (0,2): two south or two north: south.
  CHECK(way(torus, 0, 10) == Names{"chip (0,0)", "chip (0,1)", "chip (0,2)"});
  // Four links a chip.
  CHECK(torus.network.links.size() == 80);
  // A dimension of two is joined by one link, not two: 2 x 3 chips have 1 + 2 links each.
  CHECK(machine_from(machine_text("kind = \"torus\"\ncolumns = 2\nrows = 3\n" + speeds)).network.links.size() == 18);
}

TEST_CASE("wafers are one mesh whose joints are slower") {
  const Machine it = machine_from(machine_text("kind = \"wafers\"\nwafers = 3\ncolumns = 2\nrows = 4\n" + speeds +
                                               "wafer_bandwidth = \"10 GB/s\"\nwafer_latency = \"700 ns\"\n"));
  // Wafer 1 has devices 8 to 15: 12 is its (0,2), and 3 is (1,1) of wafer 0, beside it over the joint.
  CHECK(it.devices() == 24);
  CHECK(it.node_name(12) == "die (0,2) of wafer 1");
  CHECK(way(it, 3, 12) == Names{"die (1,1) of wafer 0", "die (0,1) of wafer 1", "die (0,2) of wafer 1"});
  CHECK(way(it, 16, 1) ==
        Names{"die (0,0) of wafer 2", "die (1,0) of wafer 1", "die (0,0) of wafer 1", "die (1,0) of wafer 0"});
  // A joint of 10 GB/s is four links, one a row.
  const Link& joint = it.network.links[Routes(it.network).links(3, 12)[0]];
  CHECK(joint.bandwidth.value() == 2'500'000'000);
  CHECK(joint.latency.value() == 700 * nanosecond);
  CHECK(it.network.link_classes[joint.link_class] == "w2w");
  const Link& inside = it.network.links[Routes(it.network).links(3, 12)[1]];
  CHECK(inside.bandwidth.value() == 100'000'000'000);
  CHECK(it.network.link_classes[inside.link_class] == "d2d");
  // 6 columns and 4 rows: (5 x 4 + 6 x 3) neighbours, both ways.
  CHECK(it.network.links.size() == 76);
  CHECK(it.places[12].node == 1);
  CHECK(it.places[12].x == 0);
  CHECK(it.grid.count == 3);
  CHECK(it.devices_per_node == 8);
  CHECK(it.places[12].nic == -1);
}

TEST_CASE("meshes around a switch: XY inside, over the switch between") {
  const Machine it = machine_from(machine_text("kind = \"mesh-switch\"\nmeshes = 3\ncolumns = 2\nrows = 2\n" + speeds +
                                               "switch_bandwidth = \"16 GB/s\"\nswitch_latency = \"401 ns\"\n"));
  CHECK(way(it, 4, 7) == Names{"die (0,0) of mesh 1", "die (1,0) of mesh 1", "die (1,1) of mesh 1"});
  CHECK(way(it, 7, 8) == Names{"die (1,1) of mesh 1", "switch", "die (0,0) of mesh 2"});
  const auto links = Routes(it.network).links(7, 8);
  // Four dies share the mesh's 16 GB/s; 401 ns from die to die, the odd picosecond in front of the switch.
  CHECK(it.network.links[links[0]].bandwidth.value() == 4'000'000'000);
  CHECK(it.network.links[links[0]].latency.value() == 200'500);
  CHECK(it.network.links[links[1]].latency.value() == 200'500);
  // Four neighbours in each mesh and a switch's link for each die, both ways.
  CHECK(it.network.links.size() == 2 * (3 * 4 + 12));
  CHECK(it.places[7].node == 1);
  CHECK(it.places[7].nic == 7);
}

TEST_CASE("a switched node splits its latency over two hops, and the NIC is the GPU's own") {
  const Machine it = machine_from(machine_text(nodes_of("nodes = 2\ngpus_per_node = 4\n")));
  CHECK(way(it, 1, 3) == Names{"gpu 1", "nvswitch 0", "gpu 3"});
  CHECK(way(it, 1, 6) == Names{"gpu 1", "core", "gpu 6"});
  const auto inside = Routes(it.network).links(1, 3);
  // 601 ps: the odd one in front of the switch.
  CHECK(it.network.links[inside[0]].latency.value() == 301);
  CHECK(it.network.links[inside[1]].latency.value() == 300);
  CHECK(it.network.links[inside[1]].bandwidth.value() == 300'000'000'000);
  const auto outside = Routes(it.network).links(1, 6);
  CHECK(it.network.links[outside[0]].latency.value() == 1 * microsecond);
  CHECK(it.network.links[outside[0]].bandwidth.value() == 25'000'000'000);
  CHECK(it.network.link_classes[it.network.links[outside[0]].link_class] == "nic");
  CHECK(it.devices_per_node == 4);
  CHECK(it.places[6].node == 1);
  CHECK(it.places[6].x == 2);
  CHECK(it.link_name(outside[1]) == "core to gpu 6");
}

TEST_CASE("what packet headers take comes off the bandwidth") {
  const Machine it = machine_from(
      machine_text(nodes_of("nodes = 2\ngpus_per_node = 2\nnvlink_efficiency = 0.8\nnic_efficiency = 0.9\n")));
  CHECK(it.network.links[Routes(it.network).links(0, 1)[0]].bandwidth.value() == 240'000'000'000);
  CHECK(it.network.links[Routes(it.network).links(0, 2)[0]].bandwidth.value() == 22'500'000'000);
}

TEST_CASE("rings and pairwise links inside a node") {
  const Machine ring = machine_from(machine_text(nodes_of("nodes = 2\ngpus_per_node = 4\ninside = \"ring\"\n")));
  CHECK(way(ring, 4, 7) == Names{"gpu 4", "gpu 7"});
  CHECK(way(ring, 5, 7) == Names{"gpu 5", "gpu 6", "gpu 7"});
  CHECK(way(ring, 3, 4) == Names{"gpu 3", "core", "gpu 4"});
  CHECK(ring.network.links[Routes(ring.network).links(4, 7)[0]].latency.value() == 601);
  const Machine full =
      machine_from(machine_text(nodes_of("nodes = 1\ngpus_per_node = 4\ninside = \"fully-connected\"\n")));
  CHECK(way(full, 3, 0) == Names{"gpu 3", "gpu 0"});
  CHECK(way(full, 0, 3) == Names{"gpu 0", "gpu 3"});
  // 4 x 3 ordered pairs; a single node has no fabric.
  CHECK(full.network.links.size() == 12);
  CHECK(full.network.switches == 0);
}

TEST_CASE("GPUs that share a NIC reach it over PCIe") {
  const Machine it = machine_from(
      machine_text(nodes_of("nodes = 2\ngpus_per_node = 4\nnics_per_node = 2\npcie_bandwidth = \"32 GB/s\"\n")));
  // NIC 0 serves GPUs 0 and 1, NIC 3 serves 6 and 7.
  CHECK(way(it, 1, 6) == Names{"gpu 1", "nic 0", "core", "nic 3", "gpu 6"});
  const auto links = Routes(it.network).links(1, 6);
  CHECK(it.network.links[links[0]].bandwidth.value() == 32'000'000'000);
  CHECK(it.network.links[links[1]].bandwidth.value() == 25'000'000'000);
  CHECK(it.network.links[links[3]].bandwidth.value() == 32'000'000'000);
}

TEST_CASE("a fat tree goes up only as far as it must, over the destination's spine") {
  const Machine it = machine_from(
      machine_text(nodes_of("nodes = 6\ngpus_per_node = 2\nfabric = \"fat-tree\"\nnodes_per_leaf = 2\nspines = 3\n"
                            "oversubscription = 2\nspine_latency = \"300 ns\"\n")));
  // Leaf 0 has nodes 0 and 1, that is GPUs 0 to 3.
  CHECK(way(it, 0, 3) == Names{"gpu 0", "leaf 0", "gpu 3"});
  // GPU 4 has NIC 4, and 4 mod 3 is 1; GPU 5 has spine 2, GPU 6 has spine 0.
  CHECK(way(it, 0, 4) == Names{"gpu 0", "leaf 0", "spine 1", "leaf 1", "gpu 4"});
  CHECK(way(it, 1, 5) == Names{"gpu 1", "leaf 0", "spine 2", "leaf 1", "gpu 5"});
  CHECK(way(it, 11, 6) == Names{"gpu 11", "leaf 2", "spine 0", "leaf 1", "gpu 6"});
  // A leaf has 4 NICs of 25 GB/s below it: 100 GB/s, over-subscribed by 2: 50 GB/s over three uplinks.
  const auto links = Routes(it.network).links(0, 4);
  CHECK(it.network.links[links[1]].bandwidth.value() == 16'666'666'667);
  CHECK(it.network.links[links[1]].latency.value() == 300 * nanosecond);
}

TEST_CASE("the last leaf of a fat tree may have fewer nodes") {
  const Machine it = machine_from(
      machine_text(nodes_of("nodes = 3\ngpus_per_node = 1\nfabric = \"fat-tree\"\nnodes_per_leaf = 2\nspines = 2\n")));
  CHECK(way(it, 2, 1) == Names{"gpu 2", "leaf 1", "spine 1", "leaf 0", "gpu 1"});
  CHECK(way(it, 0, 2) == Names{"gpu 0", "leaf 0", "spine 0", "leaf 1", "gpu 2"});
}

}  // namespace
}  // namespace tessera::machine
