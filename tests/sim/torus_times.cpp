// Rings and the algorithm `torus` on tori in three dimensions, solved by hand and compared to the picosecond; letters
// as in collective_times.cpp.
#include <catch2/catch.hpp>

#include "idle_network.hpp"

namespace tessera::sim {
namespace {

using program::CollectiveKind;

Idle torus(int columns, int rows, int planes, const std::string& more = "") {
  return Idle("kind = \"torus-3d\"\ncolumns = " + std::to_string(columns) + "\nrows = " + std::to_string(rows) +
              "\nplanes = " + std::to_string(planes) + "\nbandwidth = \"1000 GB/s\"\nlatency = \"100 ns\"\n" + more);
}

}  // namespace

TEST_CASE("torus: along x, y and z every step is one hop, over the whole, a part, a part of that") {
  // 5 x 4 x 3: four steps of S/5, three of S/20, two of S/60, and back for an all-reduce.
  const std::int64_t bytes = 6'000'000;
  Idle it = torus(5, 4, 3);
  const Time half = 4 * it.message(bytes / 5) + 3 * it.message(bytes / 20) + 2 * it.message(bytes / 60);
  CHECK(it.all_reduce("torus", bytes) == 2 * half);
  for (const CollectiveKind kind : {CollectiveKind::reduce_scatter, CollectiveKind::all_gather})
    CHECK(it.time("torus", kind, bytes) == half);
  std::ranges::reverse(it.group.members);
  std::swap(it.group.members[3], it.group.members[41]);
  CHECK(it.all_reduce("torus", bytes) == 2 * half);
}

TEST_CASE("torus: slower links between planes carry the last share alone") {
  // 4 x 4 x 4, planes joined at a quarter of the speed: three steps each of S/4, S/16 and S/64, the last ones at
  // 4 ps a byte instead of 1.
  const std::int64_t bytes = 6'400'000;
  const Idle it = torus(4, 4, 4, "plane_bandwidth = \"250 GB/s\"\n");
  const Time slow = 100 * nanosecond + 4 * bytes / 64;
  CHECK(it.all_reduce("torus", bytes) == 2 * (3 * it.message(bytes / 4) + 3 * it.message(bytes / 16) + 3 * slow));
}

TEST_CASE("torus: its closed form is the simulated time, on boxes that close and that do not") {
  for (const std::vector<program::DeviceId>& members : std::vector<std::vector<program::DeviceId>>{
           {0, 1, 2, 3, 4, 5, 6, 7}, {21, 22, 25, 26, 37, 38, 41, 42}, {0, 32}, {5, 21, 37, 53}}) {
    Idle it = torus(4, 4, 4);
    it.group.members = members;
    program::Collective collective;
    collective.bytes = Bytes{4'000'000};
    collective.element = Bytes{2};
    collective.algorithm = program::algorithm_index("torus");
    CHECK(static_cast<double>(it.all_reduce("torus", 4'000'000)) ==
          Approx(program::algorithm_of(collective.algorithm).time(collective, it.group, it.machine)));
  }
}

TEST_CASE(
    "a ring in the order of the devices of a torus shares no link: at ends of rows it takes two hops, of planes "
    "three") {
  // 4 x 3 x 2. From (3,y,z) to (0,y+1,z) it is one hop round x and one along y; from (3,2,z) to (0,0,z+1) one more
  // along z. Chunks meet nobody, so each takes the same edges one after another: of 24 edges 18 have one hop, 4 two, 2
  // three. An all-gather's 23 steps leave out the edge before the owner, which costs least where that has one hop.
  const std::int64_t bytes = 24 * 65'536;
  const Idle it = torus(4, 3, 2);
  const std::int64_t chunk = bytes / 24;
  const Time round = 18 * it.message(chunk) + 4 * it.message(chunk, 2) + 2 * it.message(chunk, 3);
  CHECK(it.time("ring", CollectiveKind::all_gather, bytes) == round - it.message(chunk));
}

}  // namespace tessera::sim
