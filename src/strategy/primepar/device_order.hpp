// Which device of the machine has which number in a partition.
#pragma once

#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::strategy::primepar {

/// The machine's device by number. A mesh whose sides are powers of two consists of squares, one behind the other along
/// its longer axis. The upper bits of a number are the row in a square, then come those of the column, and the lowest
/// say which square. All three are folded: 0, 2, 4, ..., 5, 3, 1, so that for a P over a whole square (its primitive
/// comes first) neighbours are at most two hops apart on an axis, the last one and the first as well. A smaller P in
/// such a square is not folded by itself: where 4 places are, a ring of 4 has its opposite ones at the ends. Elsewhere
/// numbers are the machine's.
[[nodiscard]] std::vector<int> device_order(const machine::Machine& machine);

}  // namespace tessera::strategy::primepar
