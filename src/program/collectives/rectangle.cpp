#include "rectangle.hpp"

#include <limits>

#include "tessera/machine/tiles.hpp"

namespace tessera::program {
namespace {

constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

/// The smallest rectangle with all members; its ranks are not known yet.
Rectangle around(const Group& group, const machine::Machine& machine) {
  const machine::Rectangle at = machine::around(machine, group.members);
  Rectangle found;
  found.x = at.x;
  found.y = at.y;
  found.columns = static_cast<std::uint32_t>(at.tile.columns);
  found.rows = static_cast<std::uint32_t>(at.tile.rows);
  found.row_closes = machine.grid.wrap && at.tile.columns == machine.grid.columns;
  found.column_closes = machine.grid.wrap && at.tile.rows == machine.grid.rows;
  return found;
}

std::shared_ptr<Rectangle> filled(const Group& group, const machine::Machine& machine) {
  if (machine.grid.columns == 0 || group.members.empty()) return nullptr;
  auto found = std::make_shared<Rectangle>(around(group, machine));
  if (std::size_t{found->columns} * found->rows != group.members.size()) return nullptr;
  found->ranks.assign(group.members.size(), nobody);
  for (std::uint32_t rank = 0; rank < group.members.size(); ++rank) {
    const machine::DevicePlace& place = machine.places[group.members[rank]];
    const auto column = static_cast<std::uint32_t>(place.x - found->x),
               row = static_cast<std::uint32_t>(place.y - found->y);
    std::uint32_t& here = found->ranks[row * found->columns + column];
    if (here != nobody || place.node != machine.places[group.members.front()].node) return nullptr;
    here = rank;
  }
  return found;
}

void fill_lines(Rectangle& rectangle, Lines lines) {
  const std::uint32_t size = rectangle.per_line(lines);
  rectangle.by_line.reserve(rectangle.ranks.size());
  for (std::uint32_t line = 0; line < rectangle.ranks.size() / size; ++line) {
    for (std::uint32_t i = 0; i < size; ++i)
      rectangle.by_line.push_back(lines == Lines::rows ? rectangle.rank_at(i, line) : rectangle.rank_at(line, i));
    std::sort(rectangle.by_line.end() - size, rectangle.by_line.end());
  }
}

}  // namespace

std::shared_ptr<const Rectangle> rectangle_of(const Group& group, const machine::Machine& machine, Lines lines) {
  auto found = filled(group, machine);
  if (found != nullptr) fill_lines(*found, lines);
  return found;
}

std::string check_rectangle(const std::string& algorithm, const Group& group, const machine::Machine& machine) {
  if (machine.grid.columns == 0) return algorithm + " needs a mesh or a torus";
  return filled(group, machine) == nullptr ? algorithm + " needs a full rectangle of the mesh" : "";
}

RectanglePlace::RectanglePlace(const CollectiveCall& call)
    : rectangle(static_cast<const Rectangle*>(call.lowering.plan.get())) {
  if (rectangle == nullptr) return;
  const machine::DevicePlace& place = call.machine->places[call.group->members[call.rank]];
  columns = rectangle->columns;
  rows = rectangle->rows;
  column = static_cast<std::uint32_t>(place.x - rectangle->x);
  row = static_cast<std::uint32_t>(place.y - rectangle->y);
}

std::uint32_t RectanglePlace::column_at(std::uint32_t position) const { return row_order().die_at(position); }

std::uint32_t RectanglePlace::row_at(std::uint32_t position) const { return column_order().die_at(position); }

std::uint32_t RectanglePlace::position_in_row() const { return row_order().position_of(column); }

RingPlace RectanglePlace::row_ring() const {
  const std::uint32_t position = position_in_row();
  const auto rank_at = [&](std::uint32_t at) { return rectangle->rank_at(column_at(at), row); };
  return {position, columns, rank_at(plus_modulo(position, 1, columns)), rank_at(minus_modulo(position, 1, columns)),
          0};
}

RingPlace RectanglePlace::column_ring() const {
  const std::uint32_t position = column_order().position_of(row);
  const auto rank_at = [&](std::uint32_t at) { return rectangle->rank_at(column, row_at(at)); };
  return {position, rows, rank_at(plus_modulo(position, 1, rows)), rank_at(minus_modulo(position, 1, rows)), 0};
}

std::uint32_t RectanglePlace::steps(CollectiveKind kind) const {
  return (kind == CollectiveKind::all_reduce ? 2 : 1) * (ring_pass(columns) + ring_pass(rows));
}

namespace {

/// The rings of a member whose lines travel together, and the data of their chunks.
struct LineRings {
  const CollectiveCall& call;
  const RectanglePlace& at;
  Lines lines;

  [[nodiscard]] RingPlace across() const { return lines == Lines::columns ? at.row_ring() : at.column_ring(); }
  [[nodiscard]] RingPlace along() const { return lines == Lines::columns ? at.column_ring() : at.row_ring(); }
  [[nodiscard]] std::uint32_t lines_passed() const { return ring_pass(lines == Lines::columns ? at.columns : at.rows); }
  [[nodiscard]] std::uint32_t members_passed() const {
    return ring_pass(lines == Lines::columns ? at.rows : at.columns);
  }
  /// Of all members of the line at a position.
  [[nodiscard]] auto of_line() const {
    return [this](std::uint32_t position) {
      const std::uint32_t line = lines == Lines::columns ? at.column_at(position) : at.row_at(position);
      return chunks_of(*call.collective, call.size, at.rectangle->in_line(lines, line));
    };
  }
  /// Of the member at a position of the own line.
  [[nodiscard]] auto of_member() const {
    return [this](std::uint32_t position) {
      const std::uint32_t rank = lines == Lines::columns ? at.rectangle->rank_at(at.column, at.row_at(position))
                                                         : at.rectangle->rank_at(at.column_at(position), at.row);
      return chunk_of(*call.collective, call.size, rank);
    };
  }
};

}  // namespace

void lines_reduce_scatter(const CollectiveCall& call, const RectanglePlace& at, Lines lines, std::uint32_t index,
                          Step& step) {
  const LineRings rings{call, at, lines};
  const std::uint32_t first = rings.lines_passed();
  if (index < first) return ring_reduce_scatter(rings.across(), index, rings.of_line(), step);
  ring_reduce_scatter(rings.along(), index - first, rings.of_member(), step);
}

void lines_all_gather(const CollectiveCall& call, const RectanglePlace& at, Lines lines, std::uint32_t index,
                      Step& step) {
  const LineRings rings{call, at, lines};
  const std::uint32_t first = rings.members_passed();
  if (index < first) return ring_all_gather(rings.along(), index, rings.of_member(), step);
  ring_all_gather(rings.across(), index - first, rings.of_line(), step);
}

}  // namespace tessera::program
