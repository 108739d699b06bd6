#include "rectangle.hpp"

namespace tessera::program {
namespace {

/// Snake 0, 2, 4, ..., 5, 3, 1: the position of a die, and the die at a position.
std::uint32_t position_of(std::uint32_t die, std::uint32_t size, bool closes) {
  if (closes) return die;
  return die % 2 == 0 ? die / 2 : size - (die + 1) / 2;
}
std::uint32_t die_at(std::uint32_t position, std::uint32_t size, bool closes) {
  if (closes) return position;
  return position < (size + 1) / 2 ? 2 * position : 2 * (size - position) - 1;
}

const machine::DevicePlace& place_of(const Group& group, const machine::Machine& machine, std::size_t rank) {
  return machine.places[group.members[rank]];
}

}  // namespace

std::string check_rectangle(const std::string& algorithm, const Group& group, const machine::Machine& machine) {
  if (machine.grid.columns == 0) return algorithm + " needs a mesh or a torus";
  const machine::DevicePlace& first = place_of(group, machine, 0);
  const machine::DevicePlace& last = place_of(group, machine, group.members.size() - 1);
  const int columns = last.x - first.x + 1;
  const int rows = last.y - first.y + 1;
  const std::string problem = algorithm + " needs a full rectangle of the mesh, listed row by row";
  if (columns < 1 || rows < 1) return problem;
  if (static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows) != group.members.size()) return problem;
  for (std::size_t i = 0; i < group.members.size(); ++i) {
    const machine::DevicePlace& place = place_of(group, machine, i);
    const int index = static_cast<int>(i);
    if (place.x != first.x + index % columns || place.y != first.y + index / columns || place.node != first.node) {
      return problem;
    }
  }
  return {};
}

RectanglePlace::RectanglePlace(const CollectiveCall& call) {
  const machine::Machine& machine = *call.machine;
  const machine::DevicePlace& first = place_of(*call.group, machine, 0);
  const machine::DevicePlace& last = place_of(*call.group, machine, call.size - 1);
  columns = static_cast<std::uint32_t>(last.x - first.x + 1);
  rows = static_cast<std::uint32_t>(last.y - first.y + 1);
  column = call.rank % columns;
  row = call.rank / columns;
  row_closes = machine.grid.wrap && static_cast<int>(columns) == machine.grid.columns;
  column_closes = machine.grid.wrap && static_cast<int>(rows) == machine.grid.rows;
}

RingPlace RectanglePlace::row_ring() const {
  const std::uint32_t position = position_of(column, columns, row_closes);
  const auto rank_at = [&](std::uint32_t at) { return row * columns + die_at(at, columns, row_closes); };
  return {position, columns, rank_at(plus_modulo(position, 1, columns)), rank_at(minus_modulo(position, 1, columns)),
          0};
}

RingPlace RectanglePlace::column_ring() const {
  const std::uint32_t position = position_of(row, rows, column_closes);
  const auto rank_at = [&](std::uint32_t at) { return die_at(at, rows, column_closes) * columns + column; };
  return {position, rows, rank_at(plus_modulo(position, 1, rows)), rank_at(minus_modulo(position, 1, rows)), 0};
}

}  // namespace tessera::program
