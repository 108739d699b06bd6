// Flows that a server works off in rounds, against packets served one by one.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "draw.hpp"
#include "sim/laws/trains/merging.hpp"

using namespace tessera;
using namespace tessera::sim;
using tessera::test::Draw;

namespace {

constexpr std::int64_t whole_packet = 1000;

struct PlainPacket {
  std::size_t flow = 0;
  std::uint32_t index = 0;
  PortTurn turn;
  std::int64_t bytes = 0;
  Time left = 0;
};

/// All packets in the order of their turns, served one by one.
std::vector<PlainPacket> serve_plainly(BusyPeriod period, const std::vector<MergingFlow>& flows,
                                       const ServiceRates& rates) {
  std::vector<PlainPacket> packets;
  for (std::size_t flow = 0; flow < flows.size(); ++flow) {
    const PacketTimes& times = flows[flow].arrivals;
    for (std::uint32_t i = 0; i < times.count; ++i) {
      PortTurn turn = flows[flow].turn;
      turn.time = times.at(i, rates.arrivals);
      packets.push_back({flow, i, turn, i + 1 < times.count ? whole_packet : times.last_bytes, 0});
    }
  }
  std::sort(packets.begin(), packets.end(), [](const auto& a, const auto& b) { return a.turn < b.turn; });
  for (PlainPacket& one : packets) {
    if (one.turn.time > period.end(rates.server)) period = {one.turn.time, 0};
    period.bytes += one.bytes;
    one.left = period.end(rates.server);
  }
  return packets;
}

/// The most bytes of the first `count` packets that have come and not begun, looked at when each of them comes. They
/// begin when the one before has left, or when they come.
std::int64_t longest_queue(const std::vector<PlainPacket>& packets, std::size_t count) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t waits = 0;
    for (std::size_t j = i; j > 0 && packets[j - 1].left > packets[i].turn.time; --j) waits += packets[j].bytes;
    most = std::max(most, waits);
  }
  return most;
}

/// When the packets of a flow leave that are planned, in order.
std::vector<Time> departures(const Merged& merged, std::uint32_t flow, const Rate& server, const Rate& arrivals) {
  std::vector<Time> times;
  for (const MergedShare& share : merged.shares) {
    if (share.flow != flow) continue;
    const Rate& rate = share.out.rate == 0 ? server : arrivals;
    for (std::uint32_t i = 0; i < share.out.count; ++i) times.push_back(share.out.at(i, rate));
  }
  std::sort(times.begin(), times.end());
  return times;
}

Rate random_rate(Draw& draw) {
  const std::int64_t bandwidths[] = {1'000'000'000, 3'000'000'000, 2'999'999'999, 7'000'000'001, 25'000'000'000};
  return Rate(bandwidths[draw.below(5)]);
}

std::vector<MergingFlow> random_flows(Draw& draw, const Rate& rate) {
  std::vector<MergingFlow> flows(static_cast<std::size_t>(2 + draw.below(5)));
  const bool even = draw.below(2) == 0;
  const std::int64_t together = static_cast<std::int64_t>(flows.size());
  for (std::size_t i = 0; i < flows.size(); ++i) {
    PacketTimes& times = flows[i].arrivals;
    times.base = even ? 5000 : draw.below(20) * 1000;
    times.offset = even ? (draw.below(4) == 0 ? 1000 : 1000 * (1 + static_cast<std::int64_t>(i))) : draw.below(5000);
    times.stride = whole_packet * (even ? together : 1 + draw.below(6));
    times.count = static_cast<std::uint32_t>(draw.below(8) == 0 ? 1 : 2 + draw.below(40));
    times.last_bytes = 1 + draw.below(whole_packet);
    times.rate = 1;
    times.last = times.base + rate.up(times.offset + (times.count - 1) * times.stride -
                                      (draw.below(2) == 0 ? 0 : whole_packet - times.last_bytes));
    times.last =
        std::max(times.last,
                 times.base + rate.up(times.offset + (static_cast<std::int64_t>(times.count) - 2) * times.stride) + 1);
    flows[i].turn = {times.at(0, rate), static_cast<pdes::ComponentId>(draw.below(3)), 0,
                     static_cast<std::uint32_t>(i)};
  }
  return flows;
}

}  // namespace

TEST_CASE("flows merged in closed form leave as if served one by one") {
  std::uint32_t with_rounds = 0, with_queues = 0;
  for (std::uint64_t index = 0; index < 20'000; ++index) {
    CAPTURE(index);
    Draw draw(index, "merging");
    const ServiceRates rates{random_rate(draw), 0, random_rate(draw), whole_packet};
    const std::vector<MergingFlow> flows = random_flows(draw, rates.arrivals);
    const BusyPeriod before{draw.below(30'000), draw.below(3) * 1234};
    PacketRounds rounds;
    for (const MergingFlow& flow : flows) REQUIRE(rounds.add(flow.arrivals, rates.arrivals));
    PortTurn limit;
    limit.time = draw.below(1'000'000'000) / 10;
    const bool limited = draw.below(2) == 0;

    const Merged merged = merge(before, flows, rounds.stride(), limited ? &limit : nullptr, rates);
    const std::vector<PlainPacket> plain = serve_plainly(before, flows, rates);
    std::size_t planned = 0;
    for (const std::uint32_t packets : merged.packets) planned += packets;
    // What is planned are the first packets of all, none of them behind the limit, at their times.
    std::vector<std::vector<Time>> expected(flows.size());
    for (std::size_t i = 0; i < planned; ++i) {
      expected[plain[i].flow].push_back(plain[i].left);
      REQUIRE((!limited || plain[i].turn < limit));
    }
    for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
      CAPTURE(flow);
      REQUIRE(departures(merged, flow, rates.server, rates.arrivals) == expected[flow]);
      REQUIRE(merged.packets[flow] == expected[flow].size());
    }
    if (planned == 0) continue;
    REQUIRE(merged.last == plain[planned - 1].left);
    REQUIRE(merged.after.end(rates.server) == merged.last);
    with_rounds += planned > merged.shares.size() ? 1 : 0;
    const std::size_t in_rounds = planned - merged.singles.size();
    if (in_rounds > 0 && merged.rounds_without_pause == 0) {
      const std::int64_t queue = longest_queue(plain, in_rounds);
      REQUIRE(merged.burst_queue == queue);
      with_queues += queue > 0 ? 1 : 0;
    }
    // Cut before one of them, those before it stay, with their times and shares.
    const std::size_t kept = static_cast<std::size_t>(draw.below(static_cast<std::int64_t>(planned)));
    const Merged cut = merge(before, flows, rounds.stride(), &plain[kept].turn, rates);
    std::size_t left = 0;
    for (std::size_t i = 0; i < cut.shares.size(); ++i) {
      left += cut.shares[i].out.count;
      const PacketTimes& times = cut.shares[i].out;
      const PacketTimes& longer = merged.shares[i].out;
      REQUIRE(times.count <= longer.count);
      for (std::uint32_t j = 0; j < times.count; ++j) {
        REQUIRE(times.at(j, times.rate == 0 ? rates.server : rates.arrivals) ==
                longer.at(j, longer.rate == 0 ? rates.server : rates.arrivals));
      }
    }
    REQUIRE(left == kept);
  }
  CHECK(with_rounds > 2'000);
  CHECK(with_queues > 300);
}
