// Simulated time: a 64-bit count of picoseconds (DESIGN section 3). No floating-point time exists.
#pragma once

#include <cstdint>
#include <limits>

namespace tessera {

/// Room for products of two 64-bit counts (GCC and Clang; not ISO C++, hence the marker).
__extension__ using Uint128 = unsigned __int128;
__extension__ using Int128 = __int128;

/// Picoseconds since the start of the simulation, or a duration in picoseconds.
using Time = std::int64_t;

/// Later than every event: "nothing is pending".
inline constexpr Time never = std::numeric_limits<Time>::max();

inline constexpr Time picosecond = 1;
inline constexpr Time nanosecond = 1'000;
inline constexpr Time microsecond = 1'000'000;
inline constexpr Time millisecond = 1'000'000'000;
inline constexpr Time second = 1'000'000'000'000;

/// The latest time that can be simulated, 106 days and 18 hours after the start: the last picosecond before `never`.
inline constexpr Time latest = never - 1;

/// a + b, staying at `never` instead of overflowing. Both operands are non-negative. For bounds, such as promises.
constexpr Time saturating_add(Time a, Time b) { return a >= never - b ? never : a + b; }

/// The same of `count` times `duration`.
constexpr Time saturating_times(std::int64_t count, Time duration) {
  return duration > 0 && count >= never / duration ? never : count * duration;
}

/// Throws BeyondTimeError (error.hpp).
[[noreturn]] void throw_beyond_time();

/// `duration` after `time`, for what takes place: BeyondTimeError where that is after `latest`. Neither is negative.
[[nodiscard]] inline Time time_after(Time time, Time duration) {
  Time sum = 0;
  if (__builtin_add_overflow(time, duration, &sum) || sum == never) [[unlikely]]
    throw_beyond_time();
  return sum;
}

/// `count` times `duration`: BeyondTimeError where that is longer than `latest`. Neither is negative.
[[nodiscard]] inline Time repeated(std::int64_t count, Time duration) {
  Time product = 0;
  if (__builtin_mul_overflow(count, duration, &product) || product == never) [[unlikely]]
    throw_beyond_time();
  return product;
}

}  // namespace tessera
