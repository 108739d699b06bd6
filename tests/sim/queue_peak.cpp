// The longest queue in closed form, against packets that are looked at one by one.
#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "draw.hpp"
#include "sim/laws/trains/queue_peak.hpp"

using namespace tessera;
using namespace tessera::sim;
using tessera::test::Draw;

namespace {

struct PlainPacket {
  Time arrival = 0;
  Time begin = 0;
  std::int64_t bytes = 0;
};

/// After every arrival, all that has come and not begun.
std::int64_t look_plainly(const std::vector<PlainPacket>& packets) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    std::int64_t waits = 0;
    for (std::size_t j = i + 1; j-- > 0 && packets[j].begin > packets[i].arrival;) waits += packets[j].bytes;
    most = std::max(most, waits);
  }
  return most;
}

/// A server and the packets that it has served, taken one by one and as rows.
struct DrawnServer {
  Rate rate;
  std::int64_t packet;
  BusyPeriod busy;
  ShortEnds ends;
  std::int64_t peak = 0;
  std::vector<PlainPacket> packets;

  void serve_one(Time arrival, std::int64_t bytes) {
    const Time free = busy.end(rate);
    packets.push_back({arrival, std::max(arrival, free), bytes});
    if (arrival > free) busy = {arrival, 0};
    busy.bytes += bytes;
  }
  void take_one(Time arrival, std::int64_t bytes) {
    serve_one(arrival, bytes);
    QueuePeak(rate, packet, ends, peak).packet(arrival, bytes, busy);
  }
  /// The packets of a row as long as none finds the server idle but the first.
  void take_row(PacketTimes arrivals, const Rate& arrival_rate, std::uint32_t count) {
    std::uint32_t taken = 0;
    PacketTimes out;
    for (; taken < count; ++taken) {
      const Time arrival = arrivals.at(taken, arrival_rate);
      if (taken > 0 && arrival > busy.end(rate)) break;
      serve_one(arrival, packet);
      if (taken == 0) out = {busy.start, busy.bytes, packet, 0, 0, 0, 0};
    }
    QueuePeak(rate, packet, ends, peak).packets(arrivals, arrival_rate, taken, out);
  }
};

}  // namespace

TEST_CASE("rows of packets and single ones, short ones among them, give the queue that is found packet by packet") {
  std::uint32_t with_short_ones = 0;
  for (std::uint64_t index = 0; index < 10'000; ++index) {
    CAPTURE(index);
    Draw draw(index, "queue peak");
    DrawnServer server{draw.rate(), 1 + draw.below(2000), {}, {}, 0, {}};
    Time now = draw.below(1'000'000);
    for (std::int64_t runs = 1 + draw.below(8); runs > 0; --runs) {
      if (draw.below(2) == 0) {
        for (std::int64_t i = draw.below(12); i > 0; --i, now += draw.below(2) * draw.below(200'000))
          server.take_one(now, draw.below(3) == 0 ? server.packet : draw.below(server.packet + 1));
      } else {
        const Rate rate = draw.below(2) == 0 ? server.rate : draw.rate();
        const std::int64_t stride = draw.below(2) == 0 ? server.packet : 1 + draw.below(2 * server.packet);
        PacketTimes arrivals{now, draw.below(1000), stride, 0, 0, 0, 0};
        arrivals.count = static_cast<std::uint32_t>(2 + draw.below(60));
        with_short_ones += server.ends.bytes.size() > 1 ? 1 : 0;
        server.take_row(arrivals, rate, arrivals.count - 1);
        now = server.packets.back().arrival + draw.below(3) * draw.below(1'000'000);
      }
    }
    REQUIRE(server.peak == look_plainly(server.packets));
  }
  CHECK(with_short_ones > 3'000);
}

TEST_CASE("the queue of a billion packets is found at once") {
  // A packet of 1,000 B comes every 500 ns and takes 1 us; the first one begins at 500 ns. When the last one of 10^9
  // comes, at 10^9 x 500 ns, those have begun that begin at 500, 1,500, 2,500 ns, ...: half of all. The others wait.
  const Rate fast(2'000'000'000), slow(1'000'000'000);
  const PacketTimes arrivals{0, 1000, 1000, 0, 1000, 1'000'000'001, 0};
  const PacketTimes out{500'000, 1000, 1000, 0, 1000, 0, 0};
  ShortEnds ends;
  std::int64_t peak = 0;
  QueuePeak(slow, 1000, ends, peak).packets(arrivals, fast, 1'000'000'000, out);
  CHECK(peak == 500'000'000'000);
}

TEST_CASE("a busy period that is shortened leaves the queue as it is") {
  // Of 2^61 + 700 B, sent at 1 B/ps, the last but one was 100 B long and ended 300 B before the end, which one of 300 B
  // makes. One more of 1,000 B comes 350 ps before the end of these: 50 B are left of the short one, so that the one of
  // 300 B and the new one wait.
  const Rate rate(1'000'000'000'000);
  const std::int64_t much = (std::int64_t{1} << 61U) + 700;
  ShortEnds ends;
  std::int64_t peak = 0;
  QueuePeak queue(rate, 1000, ends, peak);
  queue.pass(100, {7, much - 300});
  queue.pass(300, {7, much});
  BusyPeriod busy{7, much};
  queue.shorten(busy);
  CHECK(busy.end(rate) == much + 7);
  CHECK(busy.start > 7);
  busy.bytes += 1000;
  queue.packet(much + 7 - 350, 1000, busy);
  CHECK(peak == 1300);
}
