// The contract of `torus`: boxes of any shape in one to three dimensions, listed in any order, and nothing else.
#include <catch2/catch.hpp>

#include "contract_case.hpp"
#include "machines.hpp"
#include "tessera/base/random.hpp"

namespace tessera::program {
namespace {

constexpr CollectiveKind kinds[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                    CollectiveKind::all_gather};

machine::Machine torus_of(int columns, int rows, int planes) {
  return machine_of("kind = \"torus-3d\"\ncolumns = " + std::to_string(columns) + "\nrows = " + std::to_string(rows) +
                    "\nplanes = " + std::to_string(planes) + "\nbandwidth = \"1 TB/s\"\nlatency = \"100 ns\"\n");
}

Group in_any_order(Group group, std::uint64_t seed) {
  const KeyedRandom random(seed, random_stream("orders of a box"));
  for (std::size_t left = group.members.size(); left > 1; --left)
    std::swap(group.members[left - 1], group.members[random.below(left, left)]);
  return group;
}

/// All kinds, and sizes that divide, that leave a rest, and that are smaller than the group.
void check_exact(const Group& group, const machine::Machine& machine) {
  const auto size = static_cast<std::int64_t>(group.members.size());
  for (const CollectiveKind kind : kinds) {
    for (const std::int64_t elements : {4 * size, 5 * size + size / 2 + 1, size - 1, std::int64_t{0}}) {
      CAPTURE(name_of(kind), size, elements);
      const Collective collective{kind, 0, elements * contract_element, contract_element, algorithm_index("torus"),
                                  0,    {}};
      CHECK(passes({collective, group, machine}));
    }
  }
}

std::string problem(const Group& group, const machine::Machine& machine) {
  Collective collective;
  collective.bytes = Bytes{1024};
  collective.algorithm = algorithm_index("torus");
  return check_collective(collective, group, machine);
}

}  // namespace

TEST_CASE("torus is exact on whole tori of one to three dimensions, in whatever order they are listed") {
  for (const auto& [columns, rows, planes] : {std::array{1, 1, 1}, std::array{3, 1, 1}, std::array{1, 1, 4},
                                              std::array{2, 2, 2}, std::array{3, 2, 4}, std::array{4, 4, 3}}) {
    const machine::Machine machine = torus_of(columns, rows, planes);
    const Group all = first_members(static_cast<std::uint32_t>(columns * rows * planes));
    check_exact(all, machine);
    check_exact(in_any_order(all, 7), machine);
  }
}

TEST_CASE("torus is exact on parts of a torus: boxes, lines, and members that stand apart evenly or not") {
  const machine::Machine machine = torus_of(4, 4, 4);        // device 16 z + 4 y + x
  check_exact({{0, 1, 2, 3, 4, 5, 6, 7}}, machine);          // two rows of a plane
  check_exact({{21, 22, 25, 26, 37, 38, 41, 42}}, machine);  // a cube in the middle
  check_exact({{0, 32}}, machine);                           // every second plane
  check_exact({{5, 7, 53, 55}}, machine);                    // every second column of planes 0 and 3
  check_exact({{3, 0, 1}}, machine);                         // three of four columns
  check_exact(in_any_order({{0, 1, 2, 3, 4, 5, 6, 7}}, 3), machine);
}

TEST_CASE("torus is exact on meshes and tori in two dimensions") {
  check_exact(first_members(20), mesh_of(5, 4));
  check_exact(first_members(20), mesh_of(5, 4, "torus"));
}

TEST_CASE("torus refuses what is no box") {
  const machine::Machine machine = torus_of(4, 4, 4);
  const std::string no_box = "torus needs all combinations of some columns, rows and planes";
  CHECK(problem({{0, 1, 16, 17}}, machine).empty());
  CHECK(problem({{0, 1, 16}}, machine) == no_box);  // a corner is missing
  CHECK(problem({{0, 21}}, machine) == no_box);     // across the corners of a cube
  CHECK(problem({{0, 1, 2}}, line_of(4)) == "torus needs a mesh or a torus");
  // Of two wafers side by side the first die of each: no ring along z joins them.
  CHECK(
      problem({{0, 4}}, machine_of("kind = \"wafers\"\nwafers = 2\ncolumns = 2\nrows = 2\nbandwidth = \"1 TB/s\"\n"
                                   "latency = \"100 ns\"\nwafer_bandwidth = \"1 TB/s\"\nwafer_latency = \"1 us\"\n")) ==
      no_box);
}

}  // namespace tessera::program
