#include "sim/laws/trains/times_order.hpp"

#include <utility>

namespace tessera::sim {
namespace {

__extension__ using Wide = __int128;

Wide floor_of(Wide numerator, Wide denominator) {
  const Wide quotient = numerator / denominator;
  return quotient * denominator > numerator ? quotient - 1 : quotient;
}

/// whole + rest / of, where 0 <= rest < of.
struct Exact {
  Wide whole = 0;
  Wide rest = 0;
  Wide of = 1;
  [[nodiscard]] Wide up() const { return whole + (rest > 0 ? 1 : 0); }
  [[nodiscard]] bool operator<=(const Exact& other) const {
    return whole != other.whole ? whole < other.whole : rest * other.of <= other.rest * of;
  }
};

// A time before it is rounded.
Exact exact_at(const TimeLine& line, std::uint32_t index) {
  const Rate::Fraction fraction = line.rate->fraction();
  const Wide numerator = (line.offset + static_cast<Wide>(index) * line.stride) * fraction.time;
  const Wide whole = floor_of(numerator, fraction.bytes);
  return {line.base + whole, numerator - whole * fraction.bytes, fraction.bytes};
}

// Sum of floor((a i + b) / m) for i < n, where 0 <= a, b < m: the points below a line, counted as Euclid divides.
Wide points_below(Wide n, Wide m, Wide a, Wide b) {
  Wide sum = 0;
  for (;;) {
    sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
    a %= m;
    b %= m;
    const Wide top = a * n + b;
    if (top < m) return sum;
    n = top / m;
    b = top % m;
    std::swap(a, m);
  }
}

// Of times first .. end-1.
Wide sum_of(const TimeLine& line, std::uint32_t first, std::uint32_t end) {
  const Rate::Fraction fraction = line.rate->fraction();
  const Wide n = end - first;
  const Wide a = static_cast<Wide>(line.stride) * fraction.time;
  const Wide b = (line.offset + static_cast<Wide>(first) * line.stride) * fraction.time + fraction.bytes - 1;
  const Wide whole_a = a / fraction.bytes;
  const Wide whole_b = floor_of(b, fraction.bytes);
  return n * (line.base + whole_b) + n * (n - 1) / 2 * whole_a +
         points_below(n, fraction.bytes, a - whole_a * fraction.bytes, b - whole_b * fraction.bytes);
}

}  // namespace

// As exact numbers, both are straight lines. Where `one` is no later, it is no later when both are rounded up; where it
// is later, it is at least no earlier when rounded, so that it is later somewhere if the sums of the times differ.
bool ever_later(const TimeLine& one, const TimeLine& other, std::uint32_t count) {
  if (count == 0) return false;
  if (one.stride == other.stride && *one.rate == *other.rate &&
      one.rate->no_later(one.base, one.offset, other.base, other.offset)) {
    return false;
  }
  const auto is_no_later = [&](std::uint32_t i) { return exact_at(one, i) <= exact_at(other, i); };
  const auto is_later = [&](std::uint32_t i) { return exact_at(other, i).up() < exact_at(one, i).up(); };
  if (is_later(0) || is_later(count - 1)) return true;
  const bool first_no_later = is_no_later(0);
  const bool last_no_later = is_no_later(count - 1);
  if (first_no_later && last_no_later) return false;
  std::uint32_t first = 0;
  std::uint32_t end = count;
  if (first_no_later || last_no_later) {  // they cross once
    std::uint32_t low = 0;
    std::uint32_t high = count - 1;
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      (is_no_later(middle) == first_no_later ? low : high) = middle;
    }
    (first_no_later ? first : end) = high;
  }
  return sum_of(one, first, end) > sum_of(other, first, end);
}

}  // namespace tessera::sim
