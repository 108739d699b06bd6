// Whether one line of times is ever later than another one: exact, and without looking at each packet.
#pragma once

#include <cstdint>

#include "sim/network/rate.hpp"

namespace tessera::sim {

/// Times base + ceil((offset + i stride) / rate), i = 0, 1, ... Offsets may be negative, strides are not.
struct TimeLine {
  Time base = 0;
  std::int64_t offset = 0;  ///< B
  std::int64_t stride = 0;  ///< B
  const Rate* rate = nullptr;
};

/// Whether time i of `one` is later than time i of `other` for some i < count.
[[nodiscard]] bool ever_later(const TimeLine& one, const TimeLine& other, std::uint32_t count);

}  // namespace tessera::sim
