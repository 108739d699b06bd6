// The contract of `mesh` and `mesh-scatter`: rectangles of any shape, listed in any order, and nothing else.
#include <catch2/catch.hpp>

#include "contract_case.hpp"
#include "machines.hpp"
#include "tessera/base/random.hpp"

namespace tessera::program {
namespace {

constexpr CollectiveKind kinds[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                    CollectiveKind::all_gather};

/// Dies of a rectangle of a machine, row by row.
struct Dies {
  std::uint32_t left, top, columns, rows, machine_columns;
  [[nodiscard]] DeviceId at(std::uint32_t column, std::uint32_t row) const {
    return (top + row) * machine_columns + left + column;
  }
};

Group row_by_row(const Dies& dies) {
  Group group;
  for (std::uint32_t i = 0; i < dies.columns * dies.rows; ++i)
    group.members.push_back(dies.at(i % dies.columns, i / dies.columns));
  return group;
}

Group column_by_column(const Dies& dies) {
  Group group;
  for (std::uint32_t i = 0; i < dies.columns * dies.rows; ++i)
    group.members.push_back(dies.at(i / dies.rows, i % dies.rows));
  return group;
}

/// To and fro over the rows, but for the first column, which leads back: a closed cycle where the rows are even in
/// number.
Group cycle(const Dies& dies) {
  Group group;
  for (std::uint32_t row = 0; row < dies.rows; ++row) {
    for (std::uint32_t i = 1; i < dies.columns; ++i)
      group.members.push_back(dies.at(row % 2 == 0 ? i : dies.columns - i, row));
  }
  for (std::uint32_t row = dies.rows; row-- > 0;) group.members.push_back(dies.at(0, row));
  return group;
}

Group at_random(const Dies& dies, std::uint64_t seed) {
  Group group = row_by_row(dies);
  const KeyedRandom random(seed, random_stream("orders of a rectangle"));
  for (std::size_t left = group.members.size(); left > 1; --left)
    std::swap(group.members[left - 1], group.members[random.below(left, left)]);
  return group;
}

std::vector<Group> orders(const Dies& dies) {
  return {row_by_row(dies), column_by_column(dies), cycle(dies), at_random(dies, 1), at_random(dies, 2)};
}

/// Both algorithms, their kinds, and sizes that divide, that leave a rest, and that are smaller than the group.
void check_all(const Group& group, const machine::Machine& machine) {
  const auto size = static_cast<std::int64_t>(group.members.size());
  for (const char* algorithm : {"mesh", "mesh-scatter"}) {
    for (const CollectiveKind kind : kinds) {
      for (const std::int64_t elements : {4 * size, 5 * size + size / 2 + 1, size - 1, std::int64_t{0}}) {
        INFO(algorithm << ", " << name_of(kind) << ", " << elements << " elements");
        CHECK(passes(
            {Collective{kind, 0, elements * contract_element, contract_element, algorithm_index(algorithm), 0, {}},
             group, machine}));
      }
    }
  }
}

std::string problem(const char* algorithm, CollectiveKind kind, const Group& group, const machine::Machine& machine) {
  return check_collective({kind, 0, Bytes{222}, contract_element, algorithm_index(algorithm), 0, {}}, group, machine);
}

}  // namespace

TEST_CASE("mesh algorithms are exact on rectangles of any shape, in whatever order they are listed") {
  for (const char* topology : {"mesh", "torus"}) {
    for (std::uint32_t columns = 1; columns <= 7; ++columns) {
      for (std::uint32_t rows = 1; rows <= 5; ++rows) {
        const machine::Machine machine = mesh_of(static_cast<int>(columns), static_cast<int>(rows), topology);
        for (const Group& group : orders({0, 0, columns, rows, columns})) {
          INFO(topology << ' ' << columns << " x " << rows);
          check_all(group, machine);
        }
      }
    }
  }
}

TEST_CASE("mesh algorithms are exact on a part of a mesh, or one that spans a torus one way") {
  for (const char* topology : {"mesh", "torus"}) {
    const machine::Machine machine = mesh_of(6, 5, topology);
    for (const Dies& dies : {Dies{2, 1, 3, 2, 6}, Dies{0, 1, 6, 3, 6}, Dies{1, 0, 4, 5, 6}}) {
      for (const Group& group : orders(dies)) check_all(group, machine);
    }
  }
}

TEST_CASE("mesh algorithms refuse what is no full rectangle of one node") {
  const machine::Machine machine = mesh_of(6, 5);
  for (const CollectiveKind kind : kinds) {
    CHECK(problem("mesh", kind, Group{{8, 9, 10, 14, 15, 16}}, machine).empty());  // columns 2-4 of rows 1-2
    const std::string no_rectangle = "mesh needs a full rectangle of the mesh";
    CHECK(problem("mesh", kind, Group{{8, 9, 10, 14, 15}}, machine) == no_rectangle);           // a corner is missing
    CHECK(problem("mesh", kind, Group{{0, 1, 2, 6, 8, 12, 13, 14}}, machine) == no_rectangle);  // a hole in the middle
    CHECK(problem("mesh", kind, Group{{16, 8}}, machine) == no_rectangle);
    CHECK(problem("mesh", kind, Group{{0, 2}}, machine) == no_rectangle);
    CHECK(problem("mesh", kind, Group{{0, 7, 1, 7}}, machine) == no_rectangle);  // as many as the rectangle has
    CHECK(problem("mesh-scatter", kind, Group{{8, 9, 10, 14, 15}}, machine) ==
          "mesh-scatter needs a full rectangle of the mesh");
    CHECK(problem("mesh", kind, Group{{0, 1}}, line_of(2)) == "mesh needs a mesh or a torus");
    // Columns that are next to each other across the edge of a torus are no rectangle.
    CHECK(problem("mesh", kind, Group{{0, 5}}, mesh_of(6, 5, "torus")) == no_rectangle);
  }
}

TEST_CASE("mesh algorithms refuse a rectangle over two nodes") {
  // Two wafers of three columns side by side.
  machine::Machine machine = mesh_of(6, 2);
  for (machine::DevicePlace& place : machine.places) place.node = place.x / 3;
  for (const CollectiveKind kind : kinds) {
    CHECK(problem("mesh", kind, Group{{5, 4, 10, 11}}, machine).empty());
    CHECK(problem("mesh", kind, Group{{2, 3, 8, 9}}, machine) == "mesh needs a full rectangle of the mesh");
  }
}

TEST_CASE("mesh algorithms have reduce-scatter and all-gather beside all-reduce") {
  const machine::Machine machine = mesh_of(2, 2);
  for (const CollectiveKind kind : {CollectiveKind::all_to_all, CollectiveKind::broadcast}) {
    CHECK(problem("mesh", kind, first_members(4), machine) ==
          std::string("algorithm \"mesh\" has no ") + name_of(kind));
  }
}

}  // namespace tessera::program
