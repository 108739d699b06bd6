#include "box.hpp"

#include <algorithm>
#include <limits>

namespace tessera::program {
namespace {

constexpr std::uint32_t no_rank = std::numeric_limits<std::uint32_t>::max();

std::array<int, 3> coordinates_of(const machine::Machine& machine, DeviceId device) {
  const machine::DevicePlace& place = machine.places[device];
  return {place.x, place.y, machine.grid.stacked ? place.node : 0};
}

std::array<std::vector<int>, 3> all_coordinates(const Group& group, const machine::Machine& machine) {
  std::array<std::vector<int>, 3> all;
  for (std::size_t dimension = 0; dimension < 3; ++dimension) {
    std::vector<int>& own = all[dimension];
    for (const DeviceId member : group.members) own.push_back(coordinates_of(machine, member)[dimension]);
    std::ranges::sort(own);
    own.erase(std::unique(own.begin(), own.end()), own.end());
  }
  return all;
}

/// Evenly spaced all the way round a torus of so many places: each is as far from the next one, the last from the first
/// as well.
bool goes_all_round(const std::vector<int>& coordinates, int places) {
  const auto size = static_cast<int>(coordinates.size());
  if (places % size != 0) return false;
  for (int i = 1; i < size; ++i) {
    if (coordinates[static_cast<std::size_t>(i)] - coordinates[static_cast<std::size_t>(i - 1)] != places / size)
      return false;
  }
  return true;
}

std::uint32_t index_of(const std::vector<int>& coordinates, int coordinate) {
  return static_cast<std::uint32_t>(std::ranges::lower_bound(coordinates, coordinate) - coordinates.begin());
}

std::array<std::uint32_t, 3> indices_of(const Box& box, const machine::Machine& machine, DeviceId device) {
  const std::array<int, 3> at = coordinates_of(machine, device);
  return {index_of(box.coordinates[0], at[0]), index_of(box.coordinates[1], at[1]),
          index_of(box.coordinates[2], at[2])};
}

/// Without its lists; null where the group is no box.
std::shared_ptr<Box> filled_box(const Group& group, const machine::Machine& machine) {
  if (machine.grid.columns == 0 || group.members.empty()) return nullptr;
  auto box = std::make_shared<Box>();
  box->coordinates = all_coordinates(group, machine);
  if (std::size_t{box->size(0)} * box->size(1) * box->size(2) != group.members.size()) return nullptr;
  const std::array<int, 3> places{machine.grid.columns, machine.grid.rows, machine.grid.count};
  for (std::size_t dimension = 0; dimension < 3; ++dimension)
    box->closes[dimension] = machine.grid.wrap && goes_all_round(box->coordinates[dimension], places[dimension]);
  box->ranks.assign(group.members.size(), no_rank);
  const int first_grid = machine.places[group.members.front()].node;
  for (std::uint32_t rank = 0; rank < group.members.size(); ++rank) {
    const DeviceId member = group.members[rank];
    const std::array<std::uint32_t, 3> at = indices_of(*box, machine, member);
    std::uint32_t& here = box->ranks[(at[2] * box->size(1) + at[1]) * box->size(0) + at[0]];
    if (here != no_rank || (!machine.grid.stacked && machine.places[member].node != first_grid)) return nullptr;
    here = rank;
  }
  return box;
}

void fill_lists(Box& box) {
  const std::uint32_t columns = box.size(0), rows = box.size(1), planes = box.size(2);
  for (std::uint32_t column = 0; column < columns; ++column) {
    for (std::uint32_t row = 0; row < rows; ++row) {
      for (std::uint32_t plane = 0; plane < planes; ++plane) box.by_line.push_back(box.rank_at({column, row, plane}));
      std::sort(box.by_line.end() - planes, box.by_line.end());
    }
    const std::ptrdiff_t each = std::ptrdiff_t{rows} * planes;
    box.by_column.insert(box.by_column.end(), box.by_line.end() - each, box.by_line.end());
    std::sort(box.by_column.end() - each, box.by_column.end());
  }
}

}  // namespace

std::shared_ptr<const Box> box_of(const Group& group, const machine::Machine& machine) {
  auto box = filled_box(group, machine);
  if (box != nullptr) fill_lists(*box);
  return box;
}

std::string check_box(const std::string& algorithm, const Group& group, const machine::Machine& machine) {
  if (machine.grid.columns == 0) return algorithm + " needs a mesh or a torus";
  return filled_box(group, machine) == nullptr ? algorithm + " needs all combinations of some columns, rows and planes"
                                               : "";
}

BoxPlace::BoxPlace(const CollectiveCall& call) : box(static_cast<const Box*>(call.lowering.plan.get())) {
  if (box != nullptr) at = indices_of(*box, *call.machine, call.group->members[call.rank]);
}

RingPlace BoxPlace::ring(std::size_t dimension) const {
  const RingOrder order = box->order(dimension);
  const std::uint32_t position = order.position_of(at[dimension]);
  const auto rank_at = [&](std::uint32_t there) {
    std::array<std::uint32_t, 3> place = at;
    place[dimension] = order.die_at(there);
    return box->rank_at(place);
  };
  return {position, order.size, rank_at(plus_modulo(position, 1, order.size)),
          rank_at(minus_modulo(position, 1, order.size)), 0};
}

}  // namespace tessera::program
