// Messages and rings on a dragonfly, solved by hand. Links have 1,000 ps a byte and 500 ps, local ones 250 ps a byte
// and 100 ps; packets of 100 B.
#include <catch2/catch.hpp>

#include "machine/networks/dragonfly_network.hpp"
#include "program_case.hpp"
#include "traffic.hpp"

using namespace tessera;
using test::run_traffic;

namespace {

/// Three groups of two routers with two devices each: devices 4 g to 4 g + 3 are those of group g. Router 0 has the
/// link to group 1, where it ends at router 3; router 1 has that to group 2.
machine::Network three_groups() {
  machine::DragonflyShape shape;
  shape.groups = 3;
  shape.routers_per_group = 2;
  shape.devices_per_router = 2;
  shape.global_links = 1;
  shape.device_bandwidth = shape.global_bandwidth = BytesPerSecond{1'000'000'000};
  shape.local_bandwidth = BytesPerSecond{4'000'000'000};
  shape.device_latency = Duration{1000};  // half in front of the router
  shape.local_latency = Duration{100};
  shape.global_latency = Duration{500};
  machine::Machine made;
  machine::build_dragonfly(shape, made);
  made.network.packet = Bytes{100};
  return made.network;
}

}  // namespace

TEST_CASE("dragonfly: a message to another group is stored at each router on its way") {
  // From device 2 (router 1) to device 4 (router 2): its link, local to router 0, global to router 3, local to router
  // 2, the device's link. 1,000,000 ps until the last of ten packets has left; it is stored and sent on by four
  // routers, 25,000 + 100,000 + 25,000 + 100,000 ps; latencies 500 + 100 + 500 + 100 + 500.
  CHECK(run_traffic(three_groups(), {{2, 4, 1000, 0}}).result.delivered[0] == 1'000'000 + 250'000 + 1'700);
  // Inside a group: one local link, 25,000 + 100,000 ps more and 1,100 ps of latencies.
  CHECK(run_traffic(three_groups(), {{2, 0, 1000, 0}}).result.delivered[0] == 1'000'000 + 125'000 + 1'100);
}

TEST_CASE("dragonfly: messages of two devices to one other group share its link, to two groups they do not") {
  // Devices 0 and 1, both on router 0, to devices 6 and 7, both on router 3: their packets come to router 0 in pairs,
  // and the global link takes one of each in turn, the 19th and the 20th last, from 100,500 ps on.
  const auto both = run_traffic(three_groups(), {{0, 6, 1000, 0}, {1, 7, 1000, 0}});
  CHECK(both.result.delivered[0] == 100'500 + 1'900'000 + 500 + 100'000 + 500);
  CHECK(both.result.delivered[1] == 100'500 + 2'000'000 + 500 + 100'000 + 500);
  // Device 2 to group 2 goes by router 1's own link, which ends at router 4's neighbour: nobody is in its way.
  const auto apart = run_traffic(three_groups(), {{0, 6, 1000, 0}, {2, 8, 1000, 0}});
  CHECK(apart.result.delivered[0] == 1'000'000 + 200'000 + 1'500);
}
