// Groups that are rectangles of a mesh or torus, and the rings in their rows and columns.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ring_steps.hpp"

namespace tessera::program {

/// Which dies of a rectangle stand together.
enum class Lines : std::uint8_t { rows, columns };

/// Who stands where in a group that fills a rectangle of dies, in whatever order it lists them: a step looks its peers
/// up.
struct Rectangle final : GroupPlan {
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

/// Which die of a line stands where on its ring, and the other way round: the snake 0, 2, 4, ..., 5, 3, 1, or one after
/// another where the line closes.
struct RingOrder {
  std::uint32_t size = 1;
  bool closes = false;
  [[nodiscard]] std::uint32_t position_of(std::uint32_t die) const {
    if (closes) return die;
    return die % 2 == 0 ? die / 2 : size - (die + 1) / 2;
  }
  [[nodiscard]] std::uint32_t die_at(std::uint32_t position) const {
    if (closes) return position;
    return position < (size + 1) / 2 ? 2 * position : 2 * (size - position) - 1;
  }
};

/// Nothing where the group is no full rectangle of dies of one node.
[[nodiscard]] std::shared_ptr<const Rectangle> rectangle_of(const Group& group, const machine::Machine& machine,
                                                            Lines lines);

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
  [[nodiscard]] RingOrder row_order() const { return {columns, rectangle != nullptr && rectangle->row_closes}; }
  [[nodiscard]] RingOrder column_order() const { return {rows, rectangle != nullptr && rectangle->column_closes}; }
  [[nodiscard]] RingPlace row_ring() const;
  [[nodiscard]] RingPlace column_ring() const;
  /// The column that stands at a position of the rings in rows, the row at one of those in columns.
  [[nodiscard]] std::uint32_t column_at(std::uint32_t position) const;
  [[nodiscard]] std::uint32_t row_at(std::uint32_t position) const;
  /// Of all kinds that has_rectangle_steps() names.
  [[nodiscard]] std::uint32_t steps(CollectiveKind kind) const;
};

/// The most that so many edges one after another take, on a ring of these, in ps.
[[nodiscard]] double longest_run(const std::vector<double>& edges, std::uint32_t steps);

/// Closed forms on an idle network, in ps. A ring's member begins its step i+1 when the one before it has sent step i,
/// so after n steps it has taken the n edges before it; the slowest member's are meant, on the slowest line.
class RectangleTimes {
 public:
  RectangleTimes(const Rectangle& rectangle, const Group& group, const machine::Machine& machine)
      : rectangle_(rectangle), group_(group), machine_(machine) {}
  /// Of `steps` steps of the rings in all rows, or in all columns, that carry `chunk` bytes each.
  [[nodiscard]] double in_lines(Lines lines, std::uint32_t steps, std::int64_t chunk) const;
  /// Of a reduce-scatter or an all-gather by the functions below, with `lines` as there.
  [[nodiscard]] double by_lines(const Collective& collective, Lines lines) const;

 private:
  const Rectangle& rectangle_;
  const Group& group_;
  const machine::Machine& machine_;
};

/// Step of a reduce-scatter: rings across the lines sum up the chunks of a line's members together, rings along them
/// single chunks.
void lines_reduce_scatter(const CollectiveCall& call, const RectanglePlace& at, Lines lines, std::uint32_t index,
                          Step& step);
/// Step of an all-gather, the other way round: first along the lines, then across.
void lines_all_gather(const CollectiveCall& call, const RectanglePlace& at, Lines lines, std::uint32_t index,
                      Step& step);

}  // namespace tessera::program
