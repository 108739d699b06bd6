// Numbers of devices by whose bits neighbours are near.
#pragma once

#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// The machine's accelerator by number. On a mesh whose sides are powers of two the upper bits of a number are the row
/// and the lower ones the column, both folded: 0, 2, 4, ..., 5, 3, 1, so that neighbours on a ring through all of a row
/// or column are at most two hops apart, the last one and the first as well. Elsewhere numbers are the machine's.
[[nodiscard]] std::vector<int> device_order(const Machine& machine);

}  // namespace tessera::machine
