// Groups that are boxes of a mesh or torus in up to three dimensions, and the rings along each dimension.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "rectangle.hpp"

namespace tessera::program {

/// Who stands where in a group whose members are all combinations of some columns, some rows and some planes, in
/// whatever order it lists them. Dimension 0 is x, 1 is y, 2 is z.
struct Box final : GroupPlan {
  std::array<std::vector<int>, 3> coordinates;  ///< ascending
  /// The ring along it goes up all the way round a torus; else it is snaked (RingOrder).
  std::array<bool, 3> closes{};
  std::vector<std::uint32_t> ranks;  ///< x fastest, then y
  /// Ranks that stand in a column, whatever their row and plane: one column after another, ascending in each. The same
  /// of those that share column and row.
  std::vector<std::uint32_t> by_column, by_line;

  [[nodiscard]] std::uint32_t size(std::size_t dimension) const {
    return static_cast<std::uint32_t>(coordinates[dimension].size());
  }
  [[nodiscard]] std::uint32_t rank_at(const std::array<std::uint32_t, 3>& at) const {
    return ranks[(at[2] * size(1) + at[1]) * size(0) + at[0]];
  }
  [[nodiscard]] RingOrder order(std::size_t dimension) const { return {size(dimension), closes[dimension]}; }
  [[nodiscard]] std::span<const std::uint32_t> in_column(std::uint32_t column) const {
    const std::size_t each = std::size_t{size(1)} * size(2);
    return std::span(by_column).subspan(column * each, each);
  }
  [[nodiscard]] std::span<const std::uint32_t> in_line(std::uint32_t column, std::uint32_t row) const {
    const std::size_t each = size(2);
    return std::span(by_line).subspan((std::size_t{column} * size(1) + row) * each, each);
  }
};

/// Nothing where the members are no such box, or stand on several grids that are not planes of one torus.
[[nodiscard]] std::shared_ptr<const Box> box_of(const Group& group, const machine::Machine& machine);

/// A problem with a group that has to be a box; empty when it is one.
[[nodiscard]] std::string check_box(const std::string& algorithm, const Group& group, const machine::Machine& machine);

/// Where a member stands in its box: index into Box::coordinates by dimension.
struct BoxPlace {
  const Box* box = nullptr;
  std::array<std::uint32_t, 3> at{};

  explicit BoxPlace(const CollectiveCall& call);
  [[nodiscard]] std::uint32_t size(std::size_t dimension) const { return box == nullptr ? 1 : box->size(dimension); }
  /// On the ring along a dimension.
  [[nodiscard]] RingPlace ring(std::size_t dimension) const;
};

}  // namespace tessera::program
