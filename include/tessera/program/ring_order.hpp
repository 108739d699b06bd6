// Which chunk a member of a ring sends when (Patarasuk and Yuan, J. Parallel Distrib. Comput. 69(2), 2009).
#pragma once

#include <cstdint>

namespace tessera::program {

/// The chunk that the member at `position` of a ring of `size` sends in step `index` < size - 1 of a pass that sums up
/// (a reduce-scatter, or the first half of an all-reduce: after it, position p has the sum of chunk p) or spreads (an
/// all-gather: position p begins with chunk p). It receives the chunk before that one, in the circle.
[[nodiscard]] constexpr std::uint32_t ring_chunk(std::uint32_t position, std::uint32_t size, std::uint32_t index,
                                                 bool sums_up) {
  const std::uint32_t back = index + (sums_up ? 1 : 0);
  return position >= back ? position - back : position + size - back;
}
[[nodiscard]] constexpr std::uint32_t before_in_circle(std::uint32_t chunk, std::uint32_t size) {
  return (chunk == 0 ? size : chunk) - 1;
}

}  // namespace tessera::program
