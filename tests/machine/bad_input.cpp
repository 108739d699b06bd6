// What bad machines get: the exact message.
#include "machine_from.hpp"

namespace tessera::machine {
namespace {

const std::string fast_nodes = "kind = \"cluster\"\nnvlink_bandwidth = \"300 GB/s\"\nnvlink_latency = \"600 ns\"\n";

TEST_CASE("topologies out of range") {
  CHECK(errors_of(machine_text("kind = \"ring\"\ndevices = 0\n" + speeds)) ==
        Names{"m.toml:7:11: \"devices\": 0 is out of range, allowed: 1 to 1048576"});
  CHECK(errors_of(machine_text("kind = \"ring\"\ndevices = 6\nbandwidth = \"-1 GB/s\"\nlatency = \"1 ns\"\n")) ==
        Names{"m.toml:8:13: \"bandwidth\": \"-1 GB/s\" is out of range, allowed: at least 1 B/s"});
  CHECK(errors_of(machine_text("kind = \"ring\"\ndevices = 6\nbandwidth = \"1 GB\"\nlatency = \"1 ns\"\n")) ==
        Names{"m.toml:8:13: \"bandwidth\": \"1 GB\" is a size, expected a bandwidth such as \"150 GB/s\""});
  CHECK(errors_of(machine_text("kind = \"mesh\"\ncolumns = 60000\nrows = 60000\n" + speeds)) ==
        Names{"m.toml:5:1: columns x rows is 3600000000 devices, at most 1048576 are allowed"});
}

TEST_CASE("topologies that do not exist or say too little") {
  CHECK(errors_of(machine_text("kind = \"rnig\"\n")) == Names{"m.toml:6:8: \"kind\": unknown choice \"rnig\" (did you "
                                                              "mean \"ring\"?), allowed: cluster, ring, mesh, torus, "
                                                              "torus-3d, package, wafers, mesh-switch, dragonfly"});
  CHECK(errors_of(machine_text("devices = 3\n")) == Names{"m.toml:5:1: missing key \"kind\" in [machine.topology], "
                                                          "expected one of cluster, ring, mesh, torus, "
                                                          "torus-3d, package, wafers, mesh-switch, dragonfly"});
  CHECK(
      errors_of(
          "[machine]\nname = \"x\"\ndevice = { name = \"d\", peak.fp16 = \"1 TFLOP/s\", memory_bandwidth = \"1 B/s\", "
          "memory_capacity = \"1 B\" }\n") == Names{"m.toml:1:1: missing table [machine.topology]"});
  CHECK(errors_of(machine_text(fast_nodes + "nodes = 2\ngpus_per_node = 2\n")) ==
        Names{"m.toml:5:1: missing key \"nic_bandwidth\", required with more than one node",
              "m.toml:5:1: missing key \"nic_latency\", required with more than one node"});
  CHECK(errors_of(machine_text(fast_nodes +
                               "nodes = 2\ngpus_per_node = 4\nnic_bandwidth = \"1 GB/s\"\nnic_latency = \"1 us\"\n"
                               "nics_per_node = 3\npcie_bandwidth = \"1 GB/s\"\n")) ==
        Names{"m.toml:13:17: \"nics_per_node\": 3 does not divide gpus_per_node, which is 4"});
  CHECK(errors_of(machine_text(fast_nodes +
                               "nodes = 2\ngpus_per_node = 4\nnic_bandwidth = \"1 GB/s\"\nnic_latency = \"1 us\"\n"
                               "fabric = \"fat-tree\"\n")) ==
        Names{"m.toml:5:1: missing key \"nodes_per_leaf\", required with fabric = \"fat-tree\""});
}

TEST_CASE("rail-optimised fabrics that say too little, or what has no effect") {
  const std::string two =
      fast_nodes + "nodes = 2\ngpus_per_node = 4\nnic_bandwidth = \"1 GB/s\"\nnic_latency = \"1 us\"\n";
  CHECK(errors_of(machine_text(two + "fabric = \"rail-optimised\"\n")) ==
        Names{"m.toml:5:1: missing key \"nodes_per_leaf\", required with fabric = \"rail-optimised\""});
  CHECK(errors_of(machine_text(two + "fabric = \"rail-optimized\"\nnodes_per_leaf = 2\n")) ==
        Names{"m.toml:13:10: \"fabric\": unknown choice \"rail-optimized\" (it is \"rail-optimised\" here: fabric of a "
              "cluster), allowed: switch, fat-tree, rail-optimised"});
  CHECK(errors_of(machine_text(two + "fabric = \"rail-optimised\"\nnodes_per_leaf = 0\n")) ==
        Names{"m.toml:14:18: \"nodes_per_leaf\": 0 is out of range, allowed: 1 to 2147483647"});
  CHECK(errors_of(machine_text(two + "fabric = \"rail-optimised\"\nnodes_per_leaf = 2\npxn = 1\n")) ==
        Names{"m.toml:15:7: \"pxn\": a whole number is not allowed here, expected true or false"});
  CHECK(warnings_of(machine_text(two + "pxn = false\nspines = 2\n")) ==
        Names{"m.toml:13:7: pxn has no effect with fabric = \"switch\"; \"rail-optimised\" has rails",
              "m.toml:14:10: spines has no effect with fabric = \"switch\"; \"fat-tree\" and \"rail-optimised\" have "
              "leaves and spines"});
}

TEST_CASE("wafers and meshes of several sizes, and places on them") {
  const std::string joints = "wafer_bandwidth = \"1 GB/s\"\nwafer_latency = \"1 us\"\n";
  const std::string two = "kind = \"wafers\"\nwafers = 2\ncolumns = 2\nrows = 3\n" + speeds + joints;
  CHECK(errors_of(machine_text("kind = \"wafers\"\nwafers = 2\ncolumns = [7, 6]\nrows = 8\n" + speeds + joints)) ==
        Names{"m.toml:8:11: \"columns\": wafers of unequal edges, 7 and 6, allowed: one number for all"});
  CHECK(errors_of(machine_text("kind = \"wafers\"\nwafers = 2\ncolumns = 7\nrows = [8, 8, 8]\n" + speeds + joints)) ==
        Names{"m.toml:9:8: \"rows\": 3 numbers for 2 wafers, allowed: one number for all"});
  CHECK(machine_from(machine_text("kind = \"wafers\"\nwafers = 2\ncolumns = [2, 2]\nrows = 3\n" + speeds + joints))
            .devices() == 12);
  CHECK(errors_of(machine_text("kind = \"wafers\"\nwafers = 2\ncolumns = 2\nrows = 3\n" + speeds)) ==
        Names{"m.toml:5:1: missing key \"wafer_bandwidth\" in [machine.topology.wafers], expected a bandwidth such as "
              "\"150 GB/s\"",
              "m.toml:5:1: missing key \"wafer_latency\" in [machine.topology.wafers], expected a time such as \"500 "
              "ns\""});
  // The fault begins in line 14.
  CHECK(errors_of(machine_text(two, fault("die = [1, 1]\ndead = true"))) ==
        Names{"m.toml:15:7: \"die\": expected three numbers such as [0, 1, 0]: column, row and wafer"});
  CHECK(errors_of(machine_text(two, fault("die = [1, 1, 2]\ndead = true"))) ==
        Names{"m.toml:15:7: \"die\": there is no die (1,1) of wafer 2, allowed: (0,0) to (1,2) of wafer 0 to 1"});
}

TEST_CASE("devices that cannot compute, and keys that nobody knows") {
  CHECK(errors_of("[machine]\nname = \"x\"\n[machine.device]\nname = \"d\"\npeak = {}\nmemory_bandwidth = \"1 B/s\"\n"
                  "memory_capacity = \"1 B\"\n[machine.topology]\n" +
                  ring6) ==
        Names{"m.toml:3:1: [machine.device] has no peak, expected at least one such as peak.fp16 = \"312 TFLOP/s\""});
  CHECK(errors_of("[machine]\nname = \"x\"\n[machine.device]\nname = \"d\"\npeak.fp16 = \"1 TFLOP/s\"\n"
                  "memory_bandwidth = \"1 B/s\"\nmemory_capacity = \"2 GiB\"\nmemory_reserve = \"2 GiB\"\n"
                  "[machine.topology]\n" +
                  ring6) ==
        Names{"m.toml:8:18: \"memory_reserve\": 2 GiB leave nothing of memory_capacity = \"2 GiB\", "
              "allowed: less"});
  CHECK(errors_of(
            "[machine]\nname = \"x\"\n[machine.device]\nname = \"d\"\npeak.fp15 = \"1 TFLOP/s\"\n"
            "peak.fp16 = \"1 TFLOP/s\"\nmemory_bandwidth = \"1 B/s\"\nmemory_capacity = \"1 B\"\n[machine.topology]\n" +
            ring6) == Names{"m.toml:5:6: unknown key \"fp15\" in [machine.device.peak], did you mean \"fp16\"?"});
  CHECK(errors_of("[machines]\nname = \"x\"\n") ==
        Names{"m.toml:1:1: a machine file holds one table, [machine]",
              "m.toml:1:2: unknown key \"machines\" in a machine file, allowed: machine"});
}

TEST_CASE("faults of parts that do not exist") {
  CHECK(errors_of(machine_text(mesh4, fault("die = [9, 2]\ndead = true"))) ==
        Names{"m.toml:12:7: \"die\": die (9,2) is off the wafer, allowed: (0,0) to (3,3)"});
  CHECK(errors_of(machine_text(mesh4, fault("link = [[0, 0], [0, 4]]\ndead = true"))) ==
        Names{"m.toml:12:17: \"link\": die (0,4) is off the wafer, allowed: (0,0) to (3,3)"});
  CHECK(
      errors_of(machine_text(mesh4, fault("link = [[0, 0], [2, 0]]\ndead = true"))) ==
      Names{
          "m.toml:12:8: \"link\": no link leads from \"die (0,0)\" to \"die (2,0)\", its links lead to \"die (1,0)\", "
          "\"die (0,1)\""});
  CHECK(errors_of(machine_text(ring6, fault("device = 6\ndead = true"))) ==
        Names{"m.toml:11:10: \"device\": there is no gpu 6, allowed: 0 to 5"});
  CHECK(errors_of(machine_text(ring6, fault("die = [0, 0]\ndead = true"))) ==
        Names{"m.toml:11:7: \"die\": a ring has no columns and rows, use device = 0 to 5"});
  CHECK(errors_of(machine_text(ring6, fault("switch = \"core\"\ndead = true"))) ==
        Names{"m.toml:11:10: \"switch\": this machine has no switches"});
  const std::string two =
      fast_nodes + "nic_bandwidth = \"1 GB/s\"\nnic_latency = \"1 us\"\nnodes = 2\ngpus_per_node = 2\n";
  CHECK(errors_of(machine_text(two, fault("link = [\"gpu 4\", \"core\"]\ndead = true"))) ==
        Names{"m.toml:14:9: \"link\": there is no \"gpu 4\", allowed: \"gpu 0\" to \"gpu 3\", \"nvswitch 0\" to "
              "\"nvswitch 1\", "
              "\"core\""});
  CHECK(
      errors_of(machine_text(two, fault("switch = \"spine 0\"\ndead = true"))) ==
      Names{"m.toml:14:10: \"switch\": there is no \"spine 0\", allowed: \"nvswitch 0\" to \"nvswitch 1\", \"core\""});
}

TEST_CASE("faults that contradict themselves") {
  CHECK(errors_of(machine_text(ring6, fault("dead = true"))) ==
        Names{"m.toml:10:1: a fault concerns exactly one of \"device\", \"die\", \"host\", \"link\", \"switch\", "
              "\"among\""});
  CHECK(errors_of(machine_text(ring6, fault("device = 1"))) ==
        Names{"m.toml:10:1: a fault is dead = true, or speed = \"50 %\""});
  CHECK(errors_of(machine_text(ring6, fault("device = 1\nspeed = 0.5\ndead = true"))) ==
        Names{"m.toml:10:1: a fault is dead = true, or speed = \"50 %\", not both"});
  CHECK(errors_of(machine_text(ring6, fault("device = 1\nbandwidth = 0.5"))) ==
        Names{"m.toml:12:13: \"bandwidth\": only links have one"});
  CHECK(
      errors_of(machine_text(ring6, fault("device = 1\nspeed = \"0 %\""))) ==
      Names{"m.toml:12:9: \"speed\": expected a share such as 0.5 or \"50 %\", at least 0.000001 and at most 1 (for a "
            "part that is gone, dead = true)"});
  CHECK(errors_of(machine_text(ring6, fault("link = [\"gpu 1\"]\ndead = true"))) ==
        Names{"m.toml:11:8: \"link\": expected two ends such as [\"gpu 0\", \"nvswitch 0\"], or coordinates such as "
              "[[2, 5], [3, "
              "5]]"});
  CHECK(
      errors_of(
          "[machine]\nname = \"x\"\nfault = 3\ndevice = { name = \"d\", peak.fp16 = \"1 TFLOP/s\", memory_bandwidth = "
          "\"1 B/s\", memory_capacity = \"1 B\" }\n[machine.topology]\n" +
          ring6) ==
      Names{"m.toml:3:9: \"fault\": a whole number is not allowed here, expected tables [[machine.fault]]"});
}

TEST_CASE("a disconnected network names a pair") {
  CHECK(errors_of(machine_text(mesh4, fault("die = [1, 0]\ndead = true") + fault("die = [0, 1]\ndead = true"))) ==
        Names{"m.toml:11:1: no route from die (2,0) to die (0,0): every way leads over a dead link or a dead node"});
  CHECK(errors_of(machine_text("kind = \"package\"\nchiplets = 4\n" + speeds, fault("device = 1\ndead = true"))) ==
        Names{"m.toml:10:1: no route from chiplet 0 to chiplet 2: every way leads over a dead link or a dead node"});
  CHECK(errors_of(machine_text("kind = \"ring\"\ndevices = 2\n" + speeds,
                               fault("device = 0\ndead = true") + fault("device = 1\ndead = true"))) ==
        Names{"m.toml:10:1: the faults leave no gpu alive"});
}

}  // namespace
}  // namespace tessera::machine
