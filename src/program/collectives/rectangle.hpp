// Groups that are rectangles of a mesh or torus, and the rings in their rows and columns.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ring_steps.hpp"

namespace tessera::program {

/// Which dies of a rectangle stand together.
enum class Lines : std::uint8_t { rows, columns };

/// Who stands where in a group that fills a rectangle of dies, in whatever order it lists them. It is found once for a
/// collective of a group, so that a step looks its peers up.
struct Rectangle {
  int x = 0, y = 0;  ///< of its first column and row
  std::uint32_t columns = 1, rows = 1;
  bool row_closes = false, column_closes = false;  ///< it spans a torus that way
  std::vector<std::uint32_t> ranks;                ///< row by row
  /// Ranks in each line, ascending, one line after another: of reduce-scatter and all-gather, whose messages carry the
  /// chunks of lines.
  std::vector<std::uint32_t> by_line;

  [[nodiscard]] std::uint32_t rank_at(std::uint32_t column, std::uint32_t row) const {
    return ranks[row * columns + column];
  }
  [[nodiscard]] std::uint32_t per_line(Lines lines) const { return lines == Lines::rows ? columns : rows; }
  [[nodiscard]] std::span<const std::uint32_t> in_line(Lines lines, std::uint32_t line) const {
    return std::span(by_line).subspan(std::size_t{line} * per_line(lines), per_line(lines));
  }
};

/// Nothing where the group is no full rectangle of dies of one node.
[[nodiscard]] std::shared_ptr<const Rectangle> rectangle_of(const Group& group, const machine::Machine& machine);
/// The same with Rectangle::by_line where this kind of collective looks it up.
[[nodiscard]] std::shared_ptr<const Rectangle> rectangle_of(const Group& group, const machine::Machine& machine,
                                                            CollectiveKind kind, Lines lines);

/// A problem with a group that has to be a rectangle of dies; empty when it is one.
[[nodiscard]] std::string check_rectangle(const std::string& algorithm, const Group& group,
                                          const machine::Machine& machine);

/// The kinds that passes round rows and columns make up.
[[nodiscard]] constexpr bool has_rectangle_steps(CollectiveKind kind) {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::all_gather;
}

/// Where a member stands in its rectangle. A ring in a row is snaked: it goes out over the dies with even index and
/// comes back over those with odd index, so no message takes more than two hops and no directed link carries two of
/// them. A row that spans a torus closes by itself and needs no snake. Columns likewise. A group that is refused has no
/// rectangle, and its members no steps.
struct RectanglePlace {
  const Rectangle* rectangle = nullptr;
  std::uint32_t columns = 1, rows = 1, column = 0, row = 0;

  explicit RectanglePlace(const CollectiveCall& call);
  [[nodiscard]] std::uint32_t position_in_row() const;
  [[nodiscard]] RingPlace row_ring() const;
  [[nodiscard]] RingPlace column_ring() const;
  /// The column that stands at a position of the rings in rows, the row at one of those in columns.
  [[nodiscard]] std::uint32_t column_at(std::uint32_t position) const;
  [[nodiscard]] std::uint32_t row_at(std::uint32_t position) const;
  /// Of all kinds that has_rectangle_steps() names.
  [[nodiscard]] std::uint32_t steps(CollectiveKind kind) const;
};

/// Step of a reduce-scatter: rings across the lines sum up the chunks of a line's members together, rings along them
/// single chunks.
void lines_reduce_scatter(const CollectiveCall& call, const RectanglePlace& at, Lines lines, std::uint32_t index,
                          Step& step);
/// Step of an all-gather, the other way round: first along the lines, then across.
void lines_all_gather(const CollectiveCall& call, const RectanglePlace& at, Lines lines, std::uint32_t index,
                      Step& step);

}  // namespace tessera::program
