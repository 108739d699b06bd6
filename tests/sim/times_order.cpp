// Whether one line of times is ever later than another one, against looking at each of them.
#include <catch2/catch.hpp>

#include <algorithm>

#include "draw.hpp"
#include "sim/laws/trains/times_order.hpp"

using namespace tessera;
using namespace tessera::sim;
using tessera::test::Draw;

namespace {

Time time_at(const TimeLine& line, std::int64_t index) {
  return line.base + line.rate->up_either(line.offset + index * line.stride);
}

}  // namespace

TEST_CASE("whether one times is ever later: as if looked at time by time") {
  std::uint32_t close = 0, later = 0;
  for (std::uint64_t index = 0; index < 40'000; ++index) {
    CAPTURE(index);
    Draw draw(index, "times order");
    const Rate first = draw.rate(), second = draw.below(2) == 0 ? first : draw.rate();
    const std::int64_t stride = 1 + draw.below(1000);
    TimeLine one{draw.below(100'000), draw.below(2000) - 1000, stride, &first};
    TimeLine other{0, draw.below(2000) - 1000, stride, &second};
    if (!(first == second)) {  // nearly as steep
      const Rate::Fraction a = first.fraction(), b = second.fraction();
      other.stride = std::max<std::int64_t>(1, stride * a.time / a.bytes * b.bytes / b.time + draw.below(3) - 1);
    }
    const auto count = static_cast<std::uint32_t>(1 + draw.below(400));
    // As exact numbers within about a picosecond of each other somewhere.
    const auto where = draw.below(count);
    other.base = time_at(one, where) - time_at({0, other.offset, other.stride, &second}, where) + draw.below(3) - 1;
    bool expected = false;
    for (std::int64_t i = 0; i < count; ++i) expected |= time_at(one, i) > time_at(other, i);
    REQUIRE(ever_later(one, other, count) == expected);
    later += expected ? 1 : 0;
    close += expected && time_at(one, 0) <= time_at(other, 0) && time_at(one, count - 1) <= time_at(other, count - 1);
  }
  CHECK(later > 10'000);
  CHECK(later < 35'000);
  CHECK(close > 300);  // only rounding makes it later somewhere in between
}
