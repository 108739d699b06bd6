// The closed forms of the server against packets served one by one.
#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <vector>

#include "sim/laws/trains/service.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using namespace tessera::sim;

namespace {

struct PlainPacket {
  Time left = 0;
  BusyPeriod period;
};

/// Serves the arrivals one by one.
std::vector<PlainPacket> serve_plainly(BusyPeriod period, const std::vector<Time>& arrivals,
                                       const std::vector<std::int64_t>& bytes, const Rate& rate) {
  std::vector<PlainPacket> served;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (arrivals[i] > period.end(rate)) period = {arrivals[i], 0};
    period.bytes += bytes[i];
    served.push_back({period.end(rate), period});
  }
  return served;
}

}  // namespace

TEST_CASE("a divisor divides exactly as the processor does") {
  const KeyedRandom random(1, random_stream("divisor"));
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t by : {1LL, 2LL, 3LL, 7LL, 10LL, 65'536LL, 999'983LL, 23'499LL, 1'000'000'000'000LL, 1LL << 62,
                                (1LL << 62) + 1, 9'223'372'036'854'775'807LL}) {
    const Divisor divisor(by);
    for (const std::int64_t near : {std::int64_t{0}, std::int64_t{1}, by - 1, by, largest / by * by - 1,
                                    largest / by * by, largest - 1, largest}) {
      CHECK(divisor.quotient(near) == near / by);
    }
    for (std::uint64_t i = 0; i < 1'000; ++i) {
      const auto n = static_cast<std::int64_t>(random.bits(i) >> (1 + i % 63));
      CHECK(divisor.quotient(n) == n / by);
    }
  }
}

TEST_CASE("a rate is an exact fraction: rounding up, down and back") {
  const Rate third(3'000'000'000);  // 1,000 / 3 ps a byte
  CHECK(third.up(1) == 334);
  CHECK(third.down(1) == 333);
  CHECK(third.up(3) == 1000);
  CHECK(third.within(999) == 2);
  CHECK(third.within(1000) == 3);
  CHECK_FALSE(third.exact(2));
  CHECK(third.exact(3));
  const Rate odd(12'345'678'901);
  const std::int64_t large = 9'000'000'000'000;  // its product with 10^12 needs 128 bits
  CHECK(odd.up(large) == duration_at_rate(Bytes{large}, BytesPerSecond{12'345'678'901}));
  CHECK(odd.within(odd.up(large)) >= large);
  CHECK(odd.within(odd.up(large) - 1) < large);
  CHECK(third.longer(100, odd, 100));
  CHECK_FALSE(third.longer(100, odd, 500));
  CHECK_FALSE(third.longer(100, third, 100));
}

TEST_CASE("a rate at the end of time: what takes longer is refused, bounds stay at the end") {
  const Rate slow(1);  // a second a byte
  CHECK(slow.up(9'223'372) == 9'223'372 * second);
  CHECK_THROWS_AS(slow.up(9'223'373), BeyondTimeError);
  CHECK(slow.down(20'000'000) == never);
  const Rate fast(10'000'000'000'000);  // 10 B a picosecond: 9.2e19 B in the time that there is
  CHECK(fast.within(latest) == std::numeric_limits<std::int64_t>::max());
  CHECK(fast.up(std::numeric_limits<std::int64_t>::max()) == 922'337'203'685'477'581);
  // Speeds whose products need more than 128 bits: 1 GiB at 999,999,999,999,999,989 B/s and 1 B more at 1 B/s faster.
  const Rate first(999'999'999'999'999'989);
  const Rate second_rate(999'999'999'999'999'990);
  const std::int64_t large = std::int64_t{1} << 61U;
  CHECK(first.longer(large, second_rate, large));
  CHECK_FALSE(second_rate.longer(large, first, large));
  CHECK(second_rate.longer(large + 3, first, large));  // 2.3e18 / 1e18: one B/s is worth 2.3 B
}

TEST_CASE("a busy period may carry more than 2^63 B") {
  const Rate fast(10'000'000'000'000);
  const ServiceRates rates{fast, 0, fast, 1000};
  // 10 B a picosecond for 2^61 B, and 7 B beyond whole picoseconds.
  const BusyPeriod long_busy{5, (std::int64_t{1} << 61U) / 10 * 10 + 7};
  const Time free = 5 + (std::int64_t{1} << 61U) / 10 + 1;
  const Service service = serve_own(long_busy, 0, 2, 500, rates);
  CHECK(service.first_start == free);
  // 7 + 1,500 B from (free - 1) on take 150.7 ps.
  CHECK(service.out.last == free - 1 + 151);
  CHECK(service.after.bytes == 1507);
  // The same times as without many bytes before it.
  const Service plain = serve_own({free - 1, 7}, 0, 2, 500, rates);
  CHECK(plain.out.last == service.out.last);
  CHECK(plain.out.at(0, fast) == service.out.at(0, fast));
}

TEST_CASE("a times counts its packets by time as its formula says") {
  const Rate rate(7'000'000'000);
  const PacketTimes times{1000, 150, 100, 1000 + rate.up(150 + 4 * 100) + 5, 30, 6, 0};
  for (Time time = 0; time < 90'000; time += 7) {
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < times.count; ++i) count += times.at(i, rate) <= time ? 1 : 0;
    REQUIRE(times.until(time, rate) == count);
  }
}

TEST_CASE("served in closed form, packets leave as if served one by one") {
  const std::int64_t bandwidths[] = {1'000'000'000, 3'000'000'000, 2'999'999'999, 7'000'000'001, 25'000'000'000};
  const KeyedRandom random(1, random_stream("service"));
  std::uint64_t draws = 0;
  const auto below = [&](std::uint64_t count) { return random.below(draws++, count); };
  for (int repeat = 0; repeat < 20'000; ++repeat) {
    const std::int64_t packet = 1 + static_cast<std::int64_t>(below(300));
    const Rate arrival_rate(bandwidths[below(5)]);
    const ServiceRates rates{Rate(bandwidths[below(5)]), 0, arrival_rate, packet};
    PacketTimes times;
    times.base = static_cast<Time>(below(100'000));
    times.offset = static_cast<std::int64_t>(below(1000));
    times.stride = packet * (1 + static_cast<std::int64_t>(below(3)));
    times.count = 1 + static_cast<std::uint32_t>(below(30));
    times.rate = 1;
    times.last_bytes = 1 + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(packet)));
    times.last = times.base + arrival_rate.up(times.offset + (times.count - 1) * times.stride) +
                 static_cast<Time>(below(3)) * 1000;
    const BusyPeriod before{static_cast<Time>(below(100'000)), static_cast<std::int64_t>(below(2000))};
    const std::uint32_t limit = 1 + static_cast<std::uint32_t>(below(times.count));

    std::vector<Time> arrivals;
    std::vector<std::int64_t> bytes;
    for (std::uint32_t i = 0; i < limit; ++i) {
      arrivals.push_back(times.at(i, arrival_rate));
      bytes.push_back(i + 1 == times.count ? times.last_bytes : packet);
    }
    const auto plain = serve_plainly(before, arrivals, bytes, rates.server);
    const Service service = serve(before, times, limit, rates);
    REQUIRE(service.out.count >= 1);
    REQUIRE(service.out.count <= limit);
    Time busy = 0;
    const Rate& out_rate = service.out.rate == 1 ? arrival_rate : rates.server;
    for (std::uint32_t i = 0; i < service.out.count; ++i) {
      REQUIRE(service.out.at(i, out_rate) == plain[i].left);
      busy += plain[i].left - std::max(arrivals[i], i == 0 ? before.end(rates.server) : plain[i - 1].left);
      const BusyPeriod behind = service.behind(i + 1, times, arrival_rate, packet);
      REQUIRE(behind.end(rates.server) == plain[i].left);
    }
    REQUIRE(service.busy(rates.server, out_rate, packet) == busy);
  }
}

TEST_CASE("equal and clearly different speeds are covered by one closed form") {
  const Rate slow(1'000'000'000);
  const Rate fast(2'000'000'000);
  const auto covered = [](const Rate& arrivals, const Rate& server, BusyPeriod before) {
    const PacketTimes times{0, 100, 100, arrivals.up(10'000), 100, 100, 0};
    return serve(before, times, 100, {server, 1, arrivals, 100}).out.count;
  };
  CHECK(covered(slow, slow, {}) == 100);
  CHECK(covered(fast, slow, {}) == 100);
  CHECK(covered(slow, fast, {}) == 100);
  CHECK(covered(fast, slow, {0, 1000}) == 100);
  // Behind a backlog that the faster server works off, the form changes once: 1,000 B are 500,000 ps of backlog, and
  // each packet closes 50,000 of the gap.
  CHECK(covered(slow, fast, {0, 1000}) < 100);
  CHECK(covered(slow, fast, {0, 1000}) >= 8);
}
