// Groups that are rectangles of a mesh or torus, and the rings in their rows and columns.
#pragma once

#include "ring_steps.hpp"

namespace tessera::program {

/// A problem with a group that has to be a rectangle of dies listed row by row; empty when it is one.
[[nodiscard]] std::string check_rectangle(const std::string& algorithm, const Group& group,
                                          const machine::Machine& machine);

/// Where a member stands in its rectangle. A ring in a row is snaked: it goes out over the dies with even index and
/// comes back over those with odd index, so no message takes more than two hops and no directed link carries two of
/// them. A row that spans a torus closes by itself and needs no snake. Columns likewise.
struct RectanglePlace {
  std::uint32_t columns = 1, rows = 1, column = 0, row = 0;
  bool row_closes = false, column_closes = false;

  explicit RectanglePlace(const CollectiveCall& call);
  [[nodiscard]] RingPlace row_ring() const;
  [[nodiscard]] RingPlace column_ring() const;
};

}  // namespace tessera::program
