// Large machines are cheap: no table of pairs.
#include <malloc.h>

#include <chrono>

#include "machine_from.hpp"

namespace tessera::machine {
namespace {

struct Cost {
  double seconds;
  std::size_t bytes;
};

/// What it costs to build the machine, and what it holds afterwards.
Cost cost_of(const std::string& text) {
  const std::size_t before = mallinfo2().uordblks;
  const auto start = std::chrono::steady_clock::now();
  const Machine machine = machine_from(text);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::size_t after = mallinfo2().uordblks;
  CHECK(!Routes(machine.network).links(0, machine.devices() - 1).empty());
  return {seconds, after - before};
}

const std::string ring = "kind = \"ring\"\ndevices = 4096\nbandwidth = \"150 GB/s\"\nlatency = \"500 ns\"\n";
const std::string cluster =
    "kind = \"cluster\"\nnodes = 384\ngpus_per_node = 8\nnvlink_bandwidth = \"300 GB/s\"\nnvlink_latency = \"600 ns\"\n"
    "nic_bandwidth = \"25 GB/s\"\nnic_latency = \"2.7 us\"\nfabric = \"fat-tree\"\nnodes_per_leaf = 20\nspines = 80\n";
// 12 groups of 32 nodes with 8 leaves each.
const std::string rails =
    "kind = \"cluster\"\nnodes = 384\ngpus_per_node = 8\nnvlink_bandwidth = \"300 GB/s\"\nnvlink_latency = \"600 ns\"\n"
    "nic_bandwidth = \"25 GB/s\"\nnic_latency = \"2.7 us\"\nfabric = \"rail-optimised\"\nnodes_per_leaf = 32\nspines = "
    "32\n";

TEST_CASE("thousands of devices build in well under a second and a few MB") {
  for (const std::string& topology : {ring, cluster, rails}) {
    const Cost cost = cost_of(machine_text(topology));
    CHECK(cost.seconds < 0.5);
    CHECK(cost.bytes < 4'000'000);
  }
}

TEST_CASE("ten thousand GPUs with a host for each server stay small, and so do the ways to it") {
  const std::string servers =
      "kind = \"cluster\"\nnodes = 1250\ngpus_per_node = 8\nnvlink_bandwidth = \"300 GB/s\"\nnvlink_latency = \"600 "
      "ns\"\nnic_bandwidth = \"25 GB/s\"\nnic_latency = \"2.7 us\"\n";
  const Cost cost = cost_of(machine_text(servers + host("each = \"node\"")));
  CHECK(cost.seconds < 0.5);
  CHECK(cost.bytes < 6'000'000);
  const Machine machine = machine_from(machine_text(servers + host("each = \"node\"")));
  const Routes routes(machine.network);
  for (NodeId gpu = 0; gpu < 10'000; ++gpu) {
    CHECK(routes.links(gpu, 10'000 + gpu / 8).size() == 1);
    CHECK(routes.links(10'000 + gpu / 8, gpu).size() == 1);
  }
  const std::size_t before = mallinfo2().uordblks;
  for (NodeId gpu = 0; gpu < 10'000; gpu += 1000) {
    CHECK(routes.links(gpu, 10'777).size() == 3);
    CHECK(routes.links(10'777, gpu).size() == 3);
  }
  CHECK(mallinfo2().uordblks - before < 100'000);  // only the ways to that one host are kept
}

TEST_CASE("detours of thousands of devices stay small") {
  const Cost broken_ring =
      cost_of(machine_text(ring, "[[machine.fault]]\nlink = [\"gpu 7\", \"gpu 8\"]\ndead = true\n"));
  CHECK(broken_ring.seconds < 120);
  CHECK(broken_ring.bytes < 4'000'000);
  const Cost broken_cluster =
      cost_of(machine_text(cluster, "[[machine.fault]]\nlink = [\"gpu 7\", \"leaf 0\"]\ndead = true\n"));
  CHECK(broken_cluster.seconds < 120);
  CHECK(broken_cluster.bytes < 8'000'000);
}

}  // namespace
}  // namespace tessera::machine
