// Simulated time: a 64-bit count of picoseconds (DESIGN section 3). No floating-point time exists.
#pragma once

#include <cstdint>
#include <limits>

namespace tessera {

/// Room for products of two 64-bit counts (GCC and Clang; not ISO C++, hence the marker).
__extension__ using Uint128 = unsigned __int128;

/// Picoseconds since the start of the simulation, or a duration in picoseconds.
using Time = std::int64_t;

/// Later than every event: "nothing is pending".
inline constexpr Time never = std::numeric_limits<Time>::max();

inline constexpr Time picosecond = 1;
inline constexpr Time nanosecond = 1'000;
inline constexpr Time microsecond = 1'000'000;
inline constexpr Time millisecond = 1'000'000'000;
inline constexpr Time second = 1'000'000'000'000;

/// a + b, staying at `never` instead of overflowing. Both operands are non-negative.
constexpr Time saturating_add(Time a, Time b) { return a >= never - b ? never : a + b; }

/// Time that `amount` takes at `rate` per second (bytes and bytes/s, FLOP and FLOP/s), rounded up to
/// a whole picosecond. The product is formed in 128 bits, so nothing overflows. rate > 0, amount >= 0.
constexpr Time duration_at_rate(std::int64_t amount, std::int64_t rate) {
  const auto scaled = static_cast<Uint128>(amount) * 1'000'000'000'000U;
  const auto divisor = static_cast<Uint128>(rate);
  return static_cast<Time>((scaled + divisor - 1) / divisor);
}

}  // namespace tessera
