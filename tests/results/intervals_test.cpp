// Intervals that are kept once and read often.
#include <catch2/catch.hpp>

#include "tessera/results/intervals.hpp"

using namespace tessera;
using namespace tessera::results;

namespace {

Interval from_to(Time begin, Time end) {
  Interval one;
  one.begin = begin;
  one.end = end;
  return one;
}

std::vector<Time> begins(const StreamIntervals& intervals) {
  std::vector<Interval> rows(static_cast<std::size_t>(intervals.size()));
  intervals.copy(0, intervals.size(), rows.data());
  std::vector<Time> times;
  for (const Interval& row : rows) times.push_back(row.begin);
  return times;
}

std::shared_ptr<const RoundShift> later(Time time) {
  auto shift = std::make_shared<RoundShift>();
  shift->time = time;
  return shift;
}

}  // namespace

TEST_CASE("intervals: a round that is repeated follows itself, moved in time") {
  // 0, then a round of 10 and 12 that takes 5, twice more, then 30.
  StreamIntervals stream;
  for (const Time begin : {0, 10, 12}) stream.emplace_back() = from_to(begin, begin + 1);
  stream.repeat(2, 2, later(5));
  stream.emplace_back() = from_to(30, 31);
  CHECK(stream.size() == 8);
  CHECK(begins(stream) == std::vector<Time>{0, 10, 12, 15, 17, 20, 22, 30});
  CHECK(stream.kept()[0].size() == 4);
  std::vector<Interval> some(3);
  stream.copy(4, 3, some.data());  // from the middle of a round to that of the next
  CHECK(some == std::vector<Interval>{from_to(17, 18), from_to(20, 21), from_to(22, 23)});
}

TEST_CASE("intervals: rounds of rounds, also where the outer round begins within the inner ones") {
  // 0 and, 3 apart, twice more: 0 3 6. Then 10. The last three, 3 6 10, once more 10 later: 13 16 20.
  StreamIntervals stream;
  stream.emplace_back() = from_to(0, 1);
  stream.repeat(1, 2, later(3));
  stream.emplace_back() = from_to(10, 11);
  stream.repeat(3, 1, later(10));
  CHECK(begins(stream) == std::vector<Time>{0, 3, 6, 10, 13, 16, 20});
  stream.repeat(0, 7, later(1));  // in which nothing was done
  stream.repeat(1, 0, later(1));
  CHECK(stream.size() == 7);
}

TEST_CASE("intervals: numbers of messages and micro-batches move on by those of a round") {
  RoundShift shift;
  shift.time = 100;
  shift.lines = {{1, 5, MessageEnd::sent, 2}, {1, 5, MessageEnd::taken, 3}};
  shift.passes = {{7, 4}};
  const auto moved = [&](std::int32_t channel, MessageEnd end, std::uint16_t pass) {
    Interval one = from_to(10, 20);
    one.peer = 1;
    one.channel = channel;
    one.message = 50;
    one.end_of_message = end;
    one.pass = pass;
    one.micro_batch = 8;
    shift.move(one, 10);
    CHECK(one.begin == 1010);
    CHECK(one.end == 1020);
    return std::pair(one.message, one.micro_batch);
  };
  CHECK(moved(5, MessageEnd::sent, 7) == std::pair(70, 48));
  CHECK(moved(5, MessageEnd::taken, 6) == std::pair(80, 8));
  CHECK(moved(6, MessageEnd::sent, 0) == std::pair(50, 8));  // that line's are none
  CHECK(moved(5, MessageEnd::none, 7) == std::pair(50, 48));
}

TEST_CASE("intervals: what is not in order is put in order, and equal ones stay as they are") {
  StreamIntervals stream;
  for (const auto& [begin, end] : std::vector<std::pair<Time, Time>>{{4, 9}, {4, 5}, {2, 3}})
    stream.emplace_back() = from_to(begin, end);
  stream.repeat(1, 1, later(1));  // 3
  const DeviceIntervals device(0, {stream});
  std::vector<Interval> rows(4);
  device.copy(0, 4, rows.data());
  CHECK(rows == std::vector<Interval>{from_to(2, 3), from_to(3, 4), from_to(4, 9), from_to(4, 5)});
}

TEST_CASE("intervals: a device that did the same has its own names, and others where it names none") {
  Interval one = from_to(0, 1), two = from_to(1, 2);
  one.peer = 3;
  two.group = 4;
  two.stream = 1;
  const DeviceIntervals first(2, {one, two});
  Timeline timeline;
  timeline.add(first.renamed(9, {{{3, 30}}, {{5, 50}}}));
  timeline.add(first);
  const std::vector<Interval> rows = timeline.rows();
  REQUIRE(timeline.size() == 4);
  const auto names = [&](std::size_t i) { return std::tuple(rows[i].device, rows[i].peer, rows[i].group); };
  CHECK(names(0) == std::tuple(2U, 3, -1));
  CHECK(names(1) == std::tuple(2U, -1, 4));
  CHECK(names(2) == std::tuple(9U, 30, -1));
  CHECK(names(3) == std::tuple(9U, -1, 4));
}

TEST_CASE("intervals: many are read from any place") {
  // 10,000 kept ones, which lie in three chunks, and all of them again.
  StreamIntervals stream;
  for (Time i = 0; i < 10'000; ++i) stream.emplace_back() = from_to(i, i + 1);
  stream.repeat(10'000, 1, later(10'000));
  for (const std::int64_t first : {0, 4'000, 9'999, 12'345}) {
    std::vector<Interval> rows(5'000);
    stream.copy(first, 5'000, rows.data());
    for (std::size_t i = 0; i < rows.size(); ++i) REQUIRE(rows[i].begin == first + static_cast<std::int64_t>(i));
  }
}
