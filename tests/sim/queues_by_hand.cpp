// The longest queues of links, solved by hand. 1 GB/s is 1,000 ps a byte; packets of 100 B take 100 ns.
#include <catch2/catch.hpp>

#include "traffic.hpp"

using namespace tessera;

namespace {

constexpr std::int64_t gigabyte = 1'000'000'000;
constexpr Time latency = 500;

/// The peak queues of links when the messages have passed.
std::vector<std::int64_t> peaks(const machine::Network& network, const std::vector<test::TestMessage>& messages) {
  const std::vector<std::int64_t> peaks = test::run_traffic(network, messages).result.peak_queue;
  CHECK(test::run_reference(network, messages).peak_queue == peaks);
  return peaks;
}

/// Two senders 0 and 1, each on its own wire of 1 GB/s to a switch, and one wire from there to device 2.
machine::Network funnel(std::int64_t last_bandwidth) {
  machine::NetworkBuilder builder(3);
  const std::uint16_t type = builder.link_class("wire");
  const machine::NodeId middle = builder.add_switch("switch");
  for (const machine::NodeId from : {0U, 1U, middle})
    builder.add_link(from, from == middle ? 2 : middle, BytesPerSecond{from == middle ? last_bandwidth : gigabyte},
                     Duration{latency}, type);
  return test::finish_network(builder, 100);
}

}  // namespace

TEST_CASE("peak queue: a packet that comes when the one before has left is never in it") {
  // Two links of one speed: each packet comes to the second link when the one before leaves it.
  CHECK(peaks(test::chain({gigabyte, gigabyte}, latency, 100), {{0, 2, 1000, 0}}) == std::vector<std::int64_t>{0, 0});
  // At 3 GB/s packets come at 33,334, 66,667, ... and a latency. The second link begins with the first one at 33,834
  // and has sent it at 67,168, a picosecond after the second one has come.
  CHECK(peaks(test::chain({3 * gigabyte, 3 * gigabyte}, latency, 100), {{0, 2, 300, 0}}) ==
        std::vector<std::int64_t>{0, 100});
}

TEST_CASE("peak queue: behind a fast link it grows up to the last packet") {
  // Packets come every 50 ns from 50 ns on (and a latency) and take 100 ns. When the tenth comes, at 500 ns, five have
  // begun: at 50, 150, 250, 350 and 450 ns.
  CHECK(peaks(test::chain({2 * gigabyte, gigabyte}, latency, 100), {{0, 2, 1000, 0}}) ==
        std::vector<std::int64_t>{0, 500});
  // 250 B: the short one of 50 B comes at 125 ns; the second one waits until 150 ns.
  CHECK(peaks(test::chain({2 * gigabyte, gigabyte}, latency, 100), {{0, 2, 250, 0}}) ==
        std::vector<std::int64_t>{0, 150});
}

TEST_CASE("peak queue: two flows fill it with a packet each time") {
  // Both bring a packet every 100 ns, and one leaves: after the tenth pair 20 have come and 10 have begun.
  CHECK(peaks(funnel(gigabyte), {{0, 2, 1000, 0}, {1, 2, 1000, 0}}) == std::vector<std::int64_t>{0, 0, 1000});
  // A packet of the second flow comes in the middle of the fourth one of the first: it waits, and behind it each other
  // packet of the first flow.
  CHECK(peaks(funnel(gigabyte), {{0, 2, 1000, 0}, {1, 2, 100, 350'000}}) == std::vector<std::int64_t>{0, 0, 100});
}

TEST_CASE("peak queue: where a fast link has time between pairs, the second one of a pair waits") {
  // Pairs come every 100 ns, and a packet takes 25 ns. The last ones, of 100 and 40 B, do not come together. (Behind a
  // pair of single bytes the port expects two flows, and plans them together.)
  CHECK(peaks(funnel(4 * gigabyte), {{0, 2, 1, 0}, {1, 2, 1, 0}, {0, 2, 1000, 5'000}, {1, 2, 940, 5'000}}) ==
        std::vector<std::int64_t>{0, 0, 100});
}

TEST_CASE("peak queue: of own messages only the packet that is offered counts") {
  // Three messages at once: one packet is offered when the one before has left, and begins at once.
  CHECK(peaks(test::chain({gigabyte}, latency, 100), {{0, 1, 400, 0}, {0, 1, 250, 0, -1, 1}, {0, 1, 100, 7}}) ==
        std::vector<std::int64_t>{0});
  // Device 1's own packet comes at 150 ns, while one that passes is in service until 200.5 ns, and waits; then so do
  // the other passing ones behind it, one at a time.
  CHECK(peaks(test::chain({gigabyte, gigabyte}, latency, 100), {{0, 2, 300, 0}, {1, 2, 100, 150'000}}) ==
        std::vector<std::int64_t>{0, 100});
}
