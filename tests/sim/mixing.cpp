// A device's own message among passing flows, in closed form, against packets served one by one.
#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "sim/laws/trains/mixing.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using namespace tessera::sim;

namespace {

constexpr std::int64_t packet_size = 1000;
constexpr pdes::ComponentId self = 5;

struct Left {
  std::uint32_t flow = 0;
  Time at = 0;
  bool operator==(const Left&) const = default;
};

/// The first `count` packets, one by one: the own one is offered when the one before has left.
std::vector<Left> serve_plainly(BusyPeriod period, const std::vector<MergingFlow>& flows, PortTurn own,
                                std::size_t count, const Rate& rate) {
  std::vector<Left> served;
  std::vector<std::uint32_t> next(flows.size(), 0);
  while (served.size() < count) {
    std::uint32_t first = MixedShare::own;
    PortTurn turn = own;
    for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
      if (next[flow] == flows[flow].arrivals.count) continue;
      PortTurn other = flows[flow].turn;
      other.time = flows[flow].arrivals.at(next[flow], rate);
      if (!(other < turn)) continue;
      turn = other;
      first = flow;
    }
    if (turn.time > period.end(rate)) period = {turn.time, 0};
    period.bytes += packet_size;
    served.push_back({first, period.end(rate)});
    if (first == MixedShare::own) {
      own.time = period.end(rate);
    } else {
      ++next[first];
    }
  }
  return served;
}

std::vector<Left> all_of(const Mixed& mixed, const Rate& rate) {
  std::vector<Left> served;
  for (const MixedShare& place : mixed.places) {
    for (std::uint32_t i = 0; i < place.out.count; ++i) served.push_back({place.flow, place.out.at(i, rate)});
  }
  std::sort(served.begin(), served.end(), [](const Left& a, const Left& b) { return a.at < b.at; });
  return served;
}

}  // namespace

TEST_CASE("own packets in the gaps of a flow: every second one") {
  // 1 B/ns: a packet takes 1 us. The flow brings one every 2 us from 10 us on, the message is offered at 10.5 us, when
  // its packet of the round before has left.
  const Rate rate(1'000'000'000);
  MergingFlow flow{0, {10'000'000, 0, 2 * packet_size, 0, packet_size, 100, 0}, {10'000'000, 1, 0, 0}};
  flow.arrivals.last = flow.arrivals.base + 99 * 2'000'000;
  const BusyPeriod before{9'500'000, packet_size};
  const Mixed mixed =
      mix(before, {&flow, 1}, 2 * packet_size, {{10'500'000, self, 0, 0}, 50}, nullptr, {rate, 0, rate, packet_size});
  REQUIRE(mixed.places.size() == 2);
  // The flow's at 11.5, 13.5, ... behind the one that is sent until 10.5; the own ones at 12.5, 14.5, ...; 49 rounds,
  // as the last own packet is left out.
  CHECK(mixed.places[0].flow == 0);
  CHECK(mixed.places[0].out.at(0, rate) == 11'500'000);
  CHECK(mixed.places[1].flow == MixedShare::own);
  CHECK(mixed.places[1].out.at(0, rate) == 12'500'000);
  CHECK(mixed.places[1].out.at(48, rate) == 12'500'000 + 48 * 2'000'000);
  CHECK(mixed.places[1].out.count == 49);
}

TEST_CASE("own packets among random flows leave as if served one by one") {
  std::uint32_t found = 0;
  for (std::uint64_t index = 0; index < 20'000; ++index) {
    CAPTURE(index);
    const KeyedRandom random(index, random_stream("mixing"));
    std::uint64_t draws = 0;
    const auto below = [&](std::int64_t count) {
      return static_cast<std::int64_t>(random.below(draws++, static_cast<std::uint64_t>(count)));
    };
    const std::int64_t bandwidths[] = {1'000'000'000, 3'000'000'000, 2'999'999'999, 7'000'000'001};
    const Rate rate(bandwidths[below(4)]);
    const std::int64_t slots = 2 + below(5);
    std::vector<MergingFlow> flows(static_cast<std::size_t>(1 + below(2)));
    PacketRounds rounds;
    for (std::size_t i = 0; i < flows.size(); ++i) {
      PacketTimes& times = flows[i].arrivals;
      times = {5000, below(4) * packet_size + below(2) * below(packet_size), slots * packet_size, 0, packet_size, 0, 0};
      times.count = static_cast<std::uint32_t>(5 + below(40));
      times.last = times.base + rate.up(times.offset + (times.count - 1) * times.stride);
      flows[i].turn = {times.at(0, rate), static_cast<pdes::ComponentId>(below(10)), 0, static_cast<std::uint32_t>(i)};
      REQUIRE(rounds.add(times, rate));
    }
    // The own packet before has left at some time of a busy period that goes on.
    const BusyPeriod before{5000, (1 + below(6)) * packet_size};
    const PortTurn own{before.end(rate) - (below(3) == 0 ? rate.down(packet_size) : 0), self, 0, 0};
    const OfferedMessage message{own, static_cast<std::uint32_t>(3 + below(60))};
    const Mixed mixed = mix(before, flows, rounds.stride(), message, nullptr, {rate, 0, rate, packet_size});
    if (mixed.places.empty()) continue;
    ++found;
    const std::vector<Left> served = all_of(mixed, rate);
    REQUIRE(served == serve_plainly(before, flows, own, served.size(), rate));
  }
  CHECK(found > 2'000);
}
