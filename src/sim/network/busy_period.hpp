// When the packets of a busy server leave, in exact integers.
#pragma once

#include <cstdint>

#include "sim/network/rate.hpp"

namespace tessera::sim {

/// A busy period of a server: packets leave at start + ceil(bytes since then / rate).
struct BusyPeriod {
  Time start = 0;
  std::int64_t bytes = 0;
  [[nodiscard]] Time end(const Rate& rate) const { return time_after(start, rate.up(bytes)); }
  bool operator==(const BusyPeriod&) const = default;
};

inline constexpr std::int64_t much_in_a_period = std::int64_t{1} << 61U;  ///< B: as much as the packets of a message

/// The same busy period with room for the bytes of any message. Fast links carry more than 2^63 B in the time that can
/// be simulated; whole multiples of what takes a whole number of picoseconds become time, which changes nothing.
[[nodiscard]] inline BusyPeriod with_room(const BusyPeriod& period, const Rate& rate) {
  if (period.bytes < much_in_a_period) [[likely]]
    return period;
  const Rate::Whole whole = rate.whole(period.bytes);
  return {time_after(period.start, whole.time), period.bytes - whole.bytes};
}

}  // namespace tessera::sim
