// Completion times of the mesh algorithms, solved by hand and compared to the picosecond; letters as in
// collective_times.cpp.
#include <catch2/catch.hpp>

#include "idle_network.hpp"
#include "random_replicas.hpp"
#include "support/random_cases.hpp"

namespace tessera::sim {
namespace {

using program::CollectiveKind;

Idle grid(const char* kind, int columns, int rows) {
  return Idle("kind = \"" + std::string(kind) + "\"\ncolumns = " + std::to_string(columns) +
              "\nrows = " + std::to_string(rows) + "\nbandwidth = \"1000 GB/s\"\nlatency = \"100 ns\"\n");
}

constexpr CollectiveKind halves[] = {CollectiveKind::reduce_scatter, CollectiveKind::all_gather};

}  // namespace

TEST_CASE("mesh all-reduce: rows, then columns, each a ring snaked over the row") {
  // The snake 0, 2, 4, .., 5, 3, 1 of C >= 4 dies has C-2 edges of two hops (c2) and two of one hop (c1). A chunk goes
  // round twice less the edge after its owner and the edge before; of two edges in a row at least one is a two-hop one,
  // so the slowest chunk takes 2 ((C-2) c2 + 2 c1) - (c1 + c2) = (2C-5) c2 + 3 c1. No directed link is on two edges, so
  // nothing waits. All rows finish column by column at the same time; so do the columns, each starting when its own
  // dies have finished their rows.
  const std::int64_t bytes = 6'000'000;
  for (const auto& [columns, rows] : {std::pair(4, 4), std::pair(8, 5), std::pair(5, 12), std::pair(7, 7)}) {
    const Idle mesh = grid("mesh", columns, rows);
    const auto line = [&, elements = bytes / mesh.element](int dies) {
      const std::int64_t chunk = (elements + dies - 1) / dies * mesh.element;
      return (2 * dies - 5) * mesh.message(chunk, 2) + 3 * mesh.message(chunk, 1);
    };
    CHECK(mesh.all_reduce("mesh", bytes) == line(columns) + line(rows));
  }
  // Three dies: the snake 0, 2, 1 has one edge of two hops; two rounds less two one-hop edges in a row. Two dies: two
  // one-hop steps.
  const Idle small = grid("mesh", 3, 2);
  const std::int64_t third = bytes / 3;
  CHECK(small.all_reduce("mesh", bytes) ==
        2 * small.message(third, 2) + 2 * small.message(third, 1) + 2 * small.message(bytes / 2, 1));
}

TEST_CASE("a torus closes its rows and columns: every step is one hop") {
  const std::int64_t bytes = 6'000'000;
  const Idle torus = grid("torus", 5, 4);
  CHECK(torus.all_reduce("mesh", bytes) == 8 * torus.message(bytes / 5) + 6 * torus.message(bytes / 4));
  // With scattering, columns carry a fifth.
  CHECK(torus.all_reduce("mesh-scatter", bytes) == 8 * torus.message(bytes / 5) + 6 * torus.message(bytes / 20));
}

TEST_CASE("2 x 2: a reduce-scatter or an all-gather is two steps, of half the buffer and of a quarter") {
  // `mesh-scatter` sums up: each die gives its neighbour in the row the two chunks of that one's column, S/2, then the
  // one in its column its chunk, S/4. An all-gather goes back, and `mesh` does it with rows for columns. All messages
  // of a step go over links of their own, one hop each.
  const std::int64_t bytes = 4'000'000;
  Idle mesh = grid("mesh", 2, 2);
  for (const std::vector<program::DeviceId>& order :
       std::vector<std::vector<program::DeviceId>>{{0, 1, 2, 3}, {0, 1, 3, 2}, {3, 0, 2, 1}}) {
    mesh.group.members = order;
    for (const CollectiveKind half : halves) {
      for (const char* algorithm : {"mesh", "mesh-scatter"})
        CHECK(mesh.time(algorithm, half, bytes) == mesh.message(bytes / 2) + mesh.message(bytes / 4));
    }
    // Reductions: half of the buffer is added in the first step, a quarter in the second.
    mesh.free_reductions = false;
    CHECK(mesh.time("mesh", CollectiveKind::reduce_scatter, bytes) ==
          mesh.message(bytes / 2) + reduction(bytes / 2) + mesh.message(bytes / 4) + reduction(bytes / 4));
    mesh.free_reductions = true;
    // The whole: `mesh-scatter` does the two halves, `mesh` twice two steps of half the buffer.
    CHECK(mesh.all_reduce("mesh-scatter", bytes) == 2 * (mesh.message(bytes / 2) + mesh.message(bytes / 4)));
    CHECK(mesh.all_reduce("mesh", bytes) == 4 * mesh.message(bytes / 2));
  }
}

TEST_CASE("two rows of three: columns or rows travel together, in whatever order the dies are listed") {
  // The ring of a row is 0, 2, 1: die 0 sends over two hops, the others over one. A member is done with two steps when
  // its own receive of the first is over, and the one before it, that sends on then, has reached it. With a one-hop and
  // b two-hop: die 0 after 2 a, dies 1 and 2 after a + b.
  const std::int64_t bytes = 6'000'000;
  Idle mesh = grid("mesh", 3, 2);
  const Time third = mesh.message(bytes / 3, 1) + mesh.message(bytes / 3, 2);
  const Time sixth = mesh.message(bytes / 6, 1) + mesh.message(bytes / 6, 2);
  for (const std::vector<program::DeviceId>& order :
       std::vector<std::vector<program::DeviceId>>{{0, 1, 2, 3, 4, 5}, {0, 1, 2, 5, 4, 3}, {4, 2, 0, 5, 1, 3}}) {
    mesh.group.members = order;
    for (const CollectiveKind half : halves) {
      // Rows with the chunks of a column's two members, S/3, and one step in the column with S/6.
      CHECK(mesh.time("mesh-scatter", half, bytes) == third + mesh.message(bytes / 6));
      // One step in the column with the chunks of a row's three members, S/2, and rows with S/6.
      CHECK(mesh.time("mesh", half, bytes) == mesh.message(bytes / 2) + sixth);
    }
    CHECK(mesh.all_reduce("mesh-scatter", bytes) ==
          2 * mesh.message(bytes / 3, 2) + 2 * mesh.message(bytes / 3) + 2 * mesh.message(bytes / 6));
  }
}

TEST_CASE("reduce-scatters and all-gathers on a torus: every step is one hop") {
  const std::int64_t bytes = 6'000'000;
  Idle torus = grid("torus", 5, 4);
  const auto check = [&] {
    for (const CollectiveKind half : halves) {
      // Chunks of a column's four members in rows, of one in columns; with `mesh` those of a row's five in columns.
      CHECK(torus.time("mesh-scatter", half, bytes) == 4 * torus.message(bytes / 5) + 3 * torus.message(bytes / 20));
      CHECK(torus.time("mesh", half, bytes) == 3 * torus.message(bytes / 4) + 4 * torus.message(bytes / 20));
    }
    CHECK(torus.all_reduce("mesh", bytes) == 8 * torus.message(bytes / 5) + 6 * torus.message(bytes / 4));
  };
  check();
  std::ranges::reverse(torus.group.members);
  std::swap(torus.group.members[3], torus.group.members[11]);
  check();
}

TEST_CASE("mesh: random programs of rectangles in any order take the same picoseconds by all laws as by none") {
  for (const test::SiteKind kind : {test::SiteKind::mesh, test::SiteKind::torus, test::SiteKind::torus_3d}) {
    std::uint64_t by_rectangles = 0;
    for (std::uint64_t index = 0; index < test::random_cases(100); ++index) {
      const test::ProgramCase made = test::random_rectangles(kind, index);
      CAPTURE(static_cast<int>(kind), index);
      test::check_same(test::run_recorded(made, Laws::all).results, test::run_recorded(made, Laws::none).results);
      by_rectangles += test::collectives_by_plan(made);
    }
    CHECK(by_rectangles > test::random_cases(50));
  }
}

}  // namespace tessera::sim
