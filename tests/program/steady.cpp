// The interval of what repeats, from when repeats end.
#include "tessera/program/steady.hpp"

#include <catch2/catch.hpp>
#include <vector>

using namespace tessera;
using program::steady_interval;

namespace {

/// Ends from differences.
std::vector<Time> ends_of(const std::vector<Time>& differences) {
  std::vector<Time> ends{100};
  for (const Time difference : differences) ends.push_back(ends.back() + difference);
  return ends;
}

}  // namespace

TEST_CASE("fewer than two repeats have no interval") {
  CHECK(steady_interval({}) == 0);
  CHECK(steady_interval(ends_of({})) == 0);
  CHECK(steady_interval(ends_of({7})) == 7);
  CHECK(steady_interval(ends_of({9, 7})) == 7);
}

TEST_CASE("how a pipeline fills and drains does not count") {
  // 16 ends: the third quarter are differences 8 to 11.
  CHECK(steady_interval(ends_of({3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10, 1, 2, 3, 4})) == 10);
}

TEST_CASE("where two take turns an interval is half of what both take") {
  CHECK(steady_interval(ends_of({5, 30, 5, 30, 5, 30, 5, 30, 5, 30, 5, 30, 5, 30, 5})) == 18);  // 17.5 rounded
  CHECK(steady_interval(ends_of({5, 31, 5, 31, 5, 31, 5, 31, 5, 31, 5, 31, 5, 31, 5})) == 18);
}

TEST_CASE("one long wait, when a device comes to where it may run ahead no further, is no interval") {
  CHECK(steady_interval(ends_of({5, 5, 5, 5, 5, 5, 5, 5, 5, 900, 20, 20, 20, 20, 20})) == 20);
  CHECK(steady_interval(ends_of({5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 900, 20, 20, 20, 20})) == 5);
}
