// Rail-optimised fabrics that can be solved by hand. In the first tests links have 1,000 ps a byte and 500 ps, NVLink
// 250 ps a byte and 200 ps on each side of its switch; packets of 100 B.
#include <catch2/catch.hpp>

#include "idle_network.hpp"
#include "program_case.hpp"
#include "traffic.hpp"

using namespace tessera;
using program::CollectiveKind;
using test::run_traffic;

namespace {

/// Four nodes of two GPUs: GPU 2 n on leaf 0, GPU 2 n + 1 on leaf 1, one spine with the bandwidth of one NIC.
machine::Network four_nodes(bool pxn) {
  machine::ClusterShape shape = test::small_cluster(4, 2);
  shape.nic_latency = Duration{1000};
  shape.rails = 2;
  shape.pxn = pxn;
  shape.nodes_per_leaf = 4;
  shape.uplink_bandwidth = BytesPerSecond{1'000'000'000};
  shape.uplink_latency = Duration{500};
  machine::Machine made;
  machine::build_cluster(shape, made);
  made.network.packet = Bytes{100};
  return made.network;
}

/// The same with 25 GB/s a NIC, NVLink of 400 GB/s, and packets of 64 KiB.
sim::Idle idle_nodes(const std::string& keys) {
  return sim::Idle(
      "kind = \"cluster\"\nnodes = 4\ngpus_per_node = 2\nnvlink_bandwidth = \"400 GB/s\"\nnvlink_latency = \"1 us\"\n"
      "nic_bandwidth = \"25 GB/s\"\nnic_latency = \"2 us\"\n" +
      keys);
}
const std::string on_rails = "fabric = \"rail-optimised\"\nnodes_per_leaf = 4\n";

}  // namespace

TEST_CASE("rails: two messages of one rail share nothing") {
  // From node 0 to node 1 and from node 2 to node 3, both on leaf 0: as each would alone, 1,000,000 ps until the last
  // of ten packets has left, 500 ps to the leaf, which sends it on in 100,000 ps, and 500 ps to the GPU.
  for (const bool pxn : {false, true}) {
    const auto run = run_traffic(four_nodes(pxn), {{0, 2, 1000, 0}, {4, 6, 1000, 0}});
    CHECK(run.result.delivered[0] == 1'101'000);
    CHECK(run.result.delivered[1] == 1'101'000);
  }
}

TEST_CASE("rails: two messages from one rail to another share the uplink of their leaf") {
  // Alone: four links of 500 ps, and three more of them store the last packet: 1,000,000 + 3 x 100,000 + 2,000 ps.
  CHECK(run_traffic(four_nodes(false), {{0, 3, 1000, 0}}).result.delivered[0] == 1'302'000);
  // Together they come to leaf 0 from 100,500 ps on, and the uplink takes one of each in turn: the 19th packet, which
  // is the last one of the first message, has left it after 1,900,000 ps more, the 20th after 2,000,000. The spine's
  // link down has each in the same order, leaf 1 sends them to different GPUs: 2 x 100,000 and 3 x 500 ps.
  const auto run = run_traffic(four_nodes(false), {{0, 3, 1000, 0}, {4, 7, 1000, 0}});
  CHECK(run.result.delivered[0] == 100'500 + 1'900'000 + 201'500);
  CHECK(run.result.delivered[1] == 100'500 + 2'000'000 + 201'500);
}

TEST_CASE("rails: with pxn a message to another rail goes over NVLink, and shares nothing") {
  // NVLink has a packet over in 2 x 25,000 + 400 ps, and more of them sooner than the NIC sends them: the NIC of GPU 1
  // is busy for 1,000,000 ps from then on, 500 ps later leaf 1 has the last one, and GPU 3 100,500 ps after that.
  const auto run = run_traffic(four_nodes(true), {{0, 3, 1000, 0}, {4, 7, 1000, 0}});
  CHECK(run.result.delivered[0] == 50'400 + 1'000'000 + 500 + 100'500);
  CHECK(run.result.delivered[1] == run.result.delivered[0]);
}

TEST_CASE("rails: a ring of GPU i of each node uses its leaf alone") {
  // 200 kB in four chunks of 50 kB, a packet each: 2 us on either link of a hop and 2 us of latency; six steps of 6 us.
  // What the spines have does not matter.
  for (const char* fabric : {"oversubscription = 1\n", "oversubscription = 1000\n", "pxn = false\n"}) {
    sim::Idle idle = idle_nodes(on_rails + fabric);
    for (const program::DeviceId first : {0, 1}) {
      idle.group.members = {first, first + 2, first + 4, first + 6};
      CHECK(idle.all_reduce("ring", 200'000) == 36 * microsecond);
    }
  }
}

TEST_CASE("rails: rings over all NICs stay on their rails with pxn, and cross the spine without") {
  // Eight GPUs, two rings: each leaves a node over the other NIC than it enters the next one by. Of a buffer of 16 MB
  // a ring carries 8, and in each of its 14 steps from each node to the next 1 MB: 40 us at 25 GB/s. A leaf has four
  // such messages for its uplink, which is over-subscribed by 16: a quarter of a NIC, 16 times as long.
  const auto time = [](const std::string& keys) { return idle_nodes(keys).all_reduce("ring", 16'000'000); };
  const Time crossing = time(on_rails + "oversubscription = 16\npxn = false\n");
  CHECK(static_cast<double>(crossing) == Approx(14 * 16 * 40 * microsecond).epsilon(0.03));
  const Time staying = time(on_rails + "oversubscription = 16\n");
  CHECK(static_cast<double>(staying) == Approx(14 * 40 * microsecond).epsilon(0.15));
  CHECK(staying == time(on_rails + "oversubscription = 1\n"));
}

TEST_CASE("rails: an all-to-all is slower by what the spine lacks, and by nothing with pxn") {
  // Each GPU sends 1 MB to three on its own rail and to three on the other one over its NIC: 6 MB, 240 us. The uplink
  // of a leaf carries three from each of its four NICs, 12 MB: over-subscribed by k it has 100 GB/s / k, and takes k x
  // 120 us. So it is the NICs that count up to k = 2, and k = 8 takes four times as long.
  const auto time = [](const std::string& keys) {
    return static_cast<double>(idle_nodes(on_rails + keys).time("direct", CollectiveKind::all_to_all, 8'000'000));
  };
  constexpr double nics = 240 * microsecond;
  CHECK(time("pxn = false\n") == Approx(nics).epsilon(0.06));
  CHECK(time("pxn = false\noversubscription = 4\n") == Approx(2 * nics).epsilon(0.06));
  CHECK(time("pxn = false\noversubscription = 8\n") == Approx(4 * nics).epsilon(0.06));
  // NIC i of a node carries what both of its GPUs send to rail i: 6 MB as well.
  CHECK(time("oversubscription = 8\n") == Approx(nics).epsilon(0.06));
  CHECK(time("oversubscription = 8\n") == time("oversubscription = 1\n"));
}
