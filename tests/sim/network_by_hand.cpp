// Networks that can be solved by hand. 1 GB/s is 1,000 ps a byte; packets of 100 B take 100,000 ps.
#include <catch2/catch.hpp>

#include "machine/networks/side_by_side_network.hpp"
#include "traffic.hpp"

using namespace tessera;
using test::chain;
using test::run_traffic;
using test::TestMessage;

namespace {

constexpr std::int64_t gigabyte = 1'000'000'000;
constexpr Time latency = 500;
constexpr std::int64_t packet = 100;

/// Two senders 0 and 1, each on its own wire to a switch, and one wire from there to device 2.
machine::Network funnel(std::int64_t wire_bandwidth, std::int64_t last_bandwidth) {
  machine::NetworkBuilder builder(3);
  const std::uint16_t type = builder.link_class("wire");
  const machine::NodeId middle = builder.add_switch("switch");
  builder.add_link(0, middle, BytesPerSecond{wire_bandwidth}, Duration{latency}, type);
  builder.add_link(1, middle, BytesPerSecond{wire_bandwidth}, Duration{latency}, type);
  builder.add_link(middle, 2, BytesPerSecond{last_bandwidth}, Duration{latency}, type);
  return test::finish_network(builder, packet);
}

}  // namespace

TEST_CASE("one message over one link: all its bytes at the link's speed, then the latency; one event brings it") {
  const auto network = chain({gigabyte}, latency, packet);
  const auto run = run_traffic(network, {{0, 1, 1050, 2000}});
  CHECK(run.result.delivered[0] == 2000 + 1'050'000 + latency);
  CHECK(run.events == 2);  // the posting itself, and the arrival of all eleven packets
}

TEST_CASE("bytes that do not divide into whole picoseconds are rounded up once, not packet by packet") {
  // 3 GB/s: 1,000 bytes take 333,333.3 ps; ten packets rounded each would take 333,340 ps.
  const auto run = run_traffic(chain({3 * gigabyte}, latency, packet), {{0, 1, 1000, 0}});
  CHECK(run.result.delivered[0] == 333'334 + latency);
}

TEST_CASE("several hops pipeline: only the first packet is stored whole at each node") {
  // The last of ten packets leaves the first link at 1,000,000 ps; each further hop adds its latency and one packet's
  // time.
  const auto run = run_traffic(chain({gigabyte, gigabyte, gigabyte}, latency, packet), {{0, 3, 1000, 0}});
  CHECK(run.result.delivered[0] == 1'000'000 + 3 * latency + 2 * 100'000);
  CHECK(run.events == 4);  // posting, one arrival at each of the two nodes between, one at the destination
}

TEST_CASE("the slowest link sets the pace: a slower one behind, a faster one behind") {
  // Behind a fast link (50,000 ps a packet) the slow one starts with the first packet and is busy to the end.
  CHECK(run_traffic(chain({2 * gigabyte, gigabyte}, latency, packet), {{0, 2, 1000, 0}}).result.delivered[0] ==
        50'000 + latency + 1'000'000 + latency);
  // Behind a slow link the fast one serves each packet as it comes; the last one comes at 1,000,000 + latency.
  CHECK(run_traffic(chain({gigabyte, 2 * gigabyte}, latency, packet), {{0, 2, 1000, 0}}).result.delivered[0] ==
        1'000'000 + latency + 50'000 + latency);
}

TEST_CASE("the last, short packet has a busy period of its own where the link behind is faster") {
  // 250 B: packets arrive at 100,000, 200,000 and 250,000 (+ latency); the fast link needs 50,000 for a whole packet,
  // so the second one leaves at 250,000 (+ latency), just when the short one comes, which takes 25,000.
  const auto run = run_traffic(chain({gigabyte, 2 * gigabyte}, latency, packet), {{0, 2, 250, 0}});
  CHECK(run.result.delivered[0] == 275'000 + 2 * latency);
}

TEST_CASE("two flows that share a link take turns by arrival; ties go to the component with the smaller id") {
  // Both senders' packets come at 100,000, 200,000, ... (+ latency). The shared link serves 0 1 0 1 ...: the last
  // packet of sender 0 is the 19th, that of sender 1 the 20th.
  const auto run = run_traffic(funnel(gigabyte, gigabyte), {{0, 2, 1000, 0}, {1, 2, 1000, 0}});
  CHECK(run.result.delivered[0] == 100'000 + 19 * 100'000 + 2 * latency);
  CHECK(run.result.delivered[1] == 100'000 + 20 * 100'000 + 2 * latency);
}

TEST_CASE("a train is cut where a later flow comes in") {
  // Ten packets of sender 0 alone would be through at 1,100,000 + 2 latencies. One packet of sender 1, posted at
  // 350,000, comes at 450,000 + latency, between the fourth and the fifth of sender 0, is served fifth, and delays the
  // other six by one place.
  const auto run = run_traffic(funnel(gigabyte, gigabyte), {{0, 2, 1000, 0}, {1, 2, 100, 350'000}});
  CHECK(run.result.delivered[1] == 600'000 + 2 * latency);
  CHECK(run.result.delivered[0] == 1'200'000 + 2 * latency);
  const std::vector<test::Departure>& shared = run.result.departures[2];
  REQUIRE(shared.size() == 11);
  CHECK(shared[3] == test::Departure{0, 500'000 + latency});
  CHECK(shared[4] == test::Departure{1, 600'000 + latency});
  CHECK(shared[5] == test::Departure{0, 700'000 + latency});
}

TEST_CASE("a cut is passed on to links behind, whose plans change too") {
  // As above, with two more links to device 3 behind the shared one: each adds one packet's time and its latency.
  machine::NetworkBuilder builder(4);
  const std::uint16_t type = builder.link_class("wire");
  const machine::NodeId middle = builder.add_switch("switch");
  builder.add_link(0, middle, BytesPerSecond{gigabyte}, Duration{latency}, type);
  builder.add_link(1, middle, BytesPerSecond{gigabyte}, Duration{latency}, type);
  builder.add_link(middle, 2, BytesPerSecond{gigabyte}, Duration{latency}, type);
  builder.add_link(2, 3, BytesPerSecond{gigabyte}, Duration{latency}, type);
  const auto network = test::finish_network(builder, packet);
  const auto run = run_traffic(network, {{0, 3, 1000, 0}, {1, 3, 100, 350'000}});
  CHECK(run.result.delivered[1] == 700'000 + 3 * latency);
  CHECK(run.result.delivered[0] == 1'300'000 + 3 * latency);
}

TEST_CASE("messages of one device on several channels take turns on a link, a packet each") {
  // Packets: 0 1 0 1 0 0. Message 1 is through at 400,000, message 0 at 600,000.
  const auto run = run_traffic(chain({gigabyte}, latency, packet), {{0, 1, 400, 0}, {0, 1, 200, 0, -1, 1}});
  CHECK(run.result.delivered[0] == 600'000 + latency);
  CHECK(run.result.delivered[1] == 400'000 + latency);
}

TEST_CASE("messages that take turns all the way are told of by one event a link") {
  // When a message without bytes has come to device 1, after one latency, it posts two of ten packets, which leave in
  // turn, 0 1 0 1 ...: the last ones after 1,900,000 and 2,000,000. The link behind adds one packet's time.
  const auto network = chain({gigabyte, gigabyte, gigabyte}, latency, packet);
  const auto run = run_traffic(network, {{0, 1, 0, 0}, {1, 3, 1000, 0, 0}, {1, 3, 1000, 0, 0, 1}});
  CHECK(run.result.delivered[1] == 3 * latency + 1'900'000 + 100'000);
  CHECK(run.result.delivered[2] == 3 * latency + 2'000'000 + 100'000);
  CHECK(run.events == 5);  // posting, its arrival, that of both at the node between, and each at the destination
}

TEST_CASE("a message that becomes active when the next packet is chosen takes part from the following choice on") {
  // At 100,000 message 0 is chosen again; message 1, posted in that very picosecond, has its packet third.
  const auto run = run_traffic(chain({gigabyte}, latency, packet), {{0, 1, 300, 0}, {0, 1, 100, 100'000, -1, 1}});
  CHECK(run.result.delivered[1] == 300'000 + latency);
  CHECK(run.result.delivered[0] == 400'000 + latency);
}

TEST_CASE("messages of one sender, receiver and channel leave one after another, in the order of posting") {
  // Packets: 0 0 0 0 1 1. On the two channels of the case before, the short one was through at 400,000.
  const auto network = chain({gigabyte}, latency, packet);
  const auto run = run_traffic(network, {{0, 1, 400, 0}, {0, 1, 200, 0}});
  CHECK(run.result.delivered[0] == 400'000 + latency);
  CHECK(run.result.delivered[1] == 600'000 + latency);
  // So does one that is posted later, also in the last picosecond before the first one has left.
  CHECK(run_traffic(network, {{0, 1, 400, 0}, {0, 1, 200, 399'999}}).result.delivered[1] == 600'000 + latency);
}

TEST_CASE("a connection keeps its turn from message to message, whoever else is in line") {
  // Messages 0 and 1 share channel 0, message 2 has channel 1: packets 0 2 0 2 1 2 1. Were message 1 to fall in line
  // when it is posted, message 2 would have to share with both.
  const auto run =
      run_traffic(chain({gigabyte}, latency, packet), {{0, 1, 200, 0}, {0, 1, 200, 0}, {0, 1, 300, 0, -1, 1}});
  CHECK(run.result.delivered[0] == 300'000 + latency);
  CHECK(run.result.delivered[1] == 700'000 + latency);
  CHECK(run.result.delivered[2] == 600'000 + latency);
}

TEST_CASE("a busy period goes on when a packet comes in the picosecond in which the server becomes free") {
  // 3 GB/s: a packet takes 33,333.3 ps. Alone, each would take 33,334; the second one, posted at 33,334, continues the
  // first one's busy period and leaves at ceil(66,666.6).
  const auto run = run_traffic(chain({3 * gigabyte}, latency, packet), {{0, 1, 100, 0}, {0, 1, 100, 33'334}});
  CHECK(run.result.delivered[1] == 66'667 + latency);
}

TEST_CASE("what one stage sends to the next one on another wafer keeps to the joint's pace") {
  // Two wafers of two dies in a row; inside 100,000 ps a packet and 500 ps, over the joint 200,000 ps and 3,000 ps.
  // From the first die of one to the last of the other: the packets of 300 B come to the joint at 100,500, 200,500 and
  // 300,500 ps and leave it at 300,500, 500,500 and 700,500; the last one goes on at 703,500 and is there at 804,000.
  machine::Machine wafers;
  machine::build_joined({2, 1, false, 2}, {BytesPerSecond{gigabyte}, Duration{latency}},
                        {BytesPerSecond{gigabyte / 2}, Duration{3000}}, wafers);
  wafers.network.packet = Bytes{packet};
  CHECK(run_traffic(wafers.network, {{0, 3, 300, 0}}).result.delivered[0] == 804'000);
}

TEST_CASE("a message without bytes takes the latencies of its way, behind what waits before it") {
  CHECK(run_traffic(chain({gigabyte, gigabyte}, latency, packet), {{0, 2, 0, 0}}).result.delivered[0] == 2 * latency);
  // Posted with a message of three packets: its turn comes behind the first one.
  const auto run = run_traffic(chain({gigabyte}, latency, packet), {{0, 1, 300, 0}, {0, 1, 0, 0, -1, 1}});
  CHECK(run.result.delivered[1] == 100'000 + latency);
  CHECK(run.result.delivered[0] == 300'000 + latency);
}

TEST_CASE("a message to the device itself is there at once and uses no link") {
  const auto run = run_traffic(chain({gigabyte}, latency, packet), {{0, 0, 1000, 7}});
  CHECK(run.result.delivered[0] == 7);
  CHECK(run.result.busy[0] == 0);
}

TEST_CASE("links count bytes' time in service, not the time that packets wait") {
  const auto run = run_traffic(funnel(gigabyte, gigabyte), {{0, 2, 1000, 0}, {1, 2, 500, 5'000'000}});
  CHECK(run.result.busy == std::vector<Time>{1'000'000, 500'000, 1'500'000});
}
