// Completion times of algorithms that fit themselves to the links of a group, solved by hand and compared to the
// picosecond; letters as in collective_times.cpp. Links of 1 TB/s and 100 ns: a megabyte takes 1 us and 100 ns more.
#include <catch2/catch.hpp>

#include <cmath>
#include <set>

#include "idle_network.hpp"
#include "random_replicas.hpp"
#include "support/random_cases.hpp"

namespace tessera::sim {
namespace {

using program::CollectiveKind;

constexpr CollectiveKind one_pass[] = {CollectiveKind::reduce_scatter, CollectiveKind::all_gather};
constexpr CollectiveKind all_passes[] = {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                         CollectiveKind::all_gather};

Idle dies(const char* kind, int columns, int rows, const std::string& faults = "") {
  return Idle("kind = \"" + std::string(kind) + "\"\ncolumns = " + std::to_string(columns) +
              "\nrows = " + std::to_string(rows) + "\nbandwidth = \"1000 GB/s\"\nlatency = \"100 ns\"\n" + faults);
}

Idle some_dies(int columns, int rows, std::vector<program::DeviceId> members, const std::string& faults = "") {
  Idle made = dies("mesh", columns, rows, faults);
  made.group.members = std::move(members);
  return made;
}

/// CollectiveAlgorithm::time(), in whole ps.
Time closed_form(const Idle& idle, const char* algorithm, CollectiveKind kind, std::int64_t bytes) {
  program::Collective collective;
  collective.kind = kind;
  collective.bytes = Bytes{bytes};
  collective.element = Bytes{idle.element};
  collective.algorithm = program::algorithm_index(algorithm);
  return std::llround(program::algorithm_of(collective.algorithm).time(collective, idle.group, idle.machine));
}

/// Who sends a rank's chunk to whom in an all-gather.
std::set<std::pair<std::uint32_t, std::uint32_t>> tree_of(const Idle& idle, const char* algorithm, std::uint32_t root) {
  program::Collective collective;
  collective.kind = CollectiveKind::all_gather;
  collective.element = Bytes{2};
  const auto size = static_cast<std::uint32_t>(idle.group.members.size());
  collective.bytes = Bytes{8 * size};
  collective.algorithm = program::algorithm_index(algorithm);
  std::set<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    program::for_all_steps(program::algorithm_of(collective.algorithm),
                           program::make_call(collective, idle.group, rank, idle.machine),
                           [&](const program::CollectiveCall&, const program::Step& step) {
                             for (const program::Transfer& send : step.sends)
                               if (send.offset / 8 == root) edges.insert({rank, send.peer});
                           });
  }
  return edges;
}

}  // namespace

TEST_CASE("ring-bi-odd of three dies in a row: two steps of a chunk each way") {
  // Dies 1 and 2 are the ring, die 0 hangs on die 1. To gather, step 0: 0 and 2 send their chunks to 1, and 1 its own
  // to both; step 1: 1 hands on to each the chunk of the other one. Both halves of a chunk go over the one link between
  // two dies, one behind the other. 6 MB: chunks of 2 MB, 100 ns + 2 us a step, two steps: 4.2 us. Back the same.
  const Idle row = dies("mesh", 3, 1);
  for (const CollectiveKind pass : one_pass) CHECK(row.time("ring-bi-odd", pass, 6'000'000) == 4'200 * nanosecond);
  CHECK(row.all_reduce("ring-bi-odd", 6'000'000) == 8'400 * nanosecond);
}

TEST_CASE("ring-bi-odd of seven dies: a ring of 2 x 3, and one die below a corner") {
  // 14 MB: halves of chunks have 1 MB and take 100 ns + 1 us over a link. The seventh die has one link, over which it
  // receives the six chunks of the others, 12 halves. The first two, its host's own, leave at once; the next chunk
  // leaves when step 0 is over at the host, which has waited for the two halves of the seventh die's chunk: after 100
  // ns
  // + 2 us. From then on the link is busy with ten halves, and the last one arrives 100 ns behind: 12.2 us.
  std::vector<program::DeviceId> seven{0, 1, 2, 3, 4, 5, 6};
  const Idle large = some_dies(2, 4, seven);
  for (const CollectiveKind pass : one_pass) CHECK(large.time("ring-bi-odd", pass, 14'000'000) == 12'200 * nanosecond);
  CHECK(large.all_reduce("ring-bi-odd", 14'000'000) == 24'400 * nanosecond);
  // 14 kB: halves of 1 kB take 1 ns, latencies count. The first chunk of the seventh die's reaches its host after 102
  // ns; from there it goes round and other chunks come, a step of 101 ns each, and the last step hands two halves on:
  // 102 + 4 x 101 + 102 = 6 x 101 + 2 = 608 ns.
  for (const CollectiveKind pass : one_pass) CHECK(large.time("ring-bi-odd", pass, 14'000) == 608 * nanosecond);
  CHECK(large.all_reduce("ring-bi-odd", 14'000) == 1'216 * nanosecond);
  // However they are listed.
  std::ranges::reverse(seven);
  std::swap(seven[1], seven[5]);
  CHECK(some_dies(2, 4, seven).all_reduce("ring-bi-odd", 14'000'000) == 24'400 * nanosecond);
}

TEST_CASE("ring-bi-odd of nine dies: the corner left out has two hosts, so all go on in step") {
  // 18 MB: eight steps of half a chunk, 100 ns + 1 us, each way: as on a ring of nine that closed.
  const Idle square = dies("mesh", 3, 3);
  for (const CollectiveKind pass : one_pass) CHECK(square.time("ring-bi-odd", pass, 18'000'000) == 8'800 * nanosecond);
  CHECK(square.all_reduce("ring-bi-odd", 18'000'000) == 17'600 * nanosecond);
  // A dead link leaves corner (0,0) one, so it is no part of the ring: 100 ns + 2 us until its chunk has come to its
  // host, which sends it the other seven chunks, 2 us each, behind its own, and 100 ns: 16.2 us.
  const Idle cut = dies("mesh", 3, 3, "[[fault]]\nlink = [[0, 0], [1, 0]]\ndead = true\n");
  CHECK(cut.all_reduce("ring-bi-odd", 18'000'000) == 32'400 * nanosecond);
}

TEST_CASE("closed forms of ring-bi-odd and the mesh algorithms are the simulated times") {
  for (const CollectiveKind kind : all_passes) {
    // Bytes that every member has as many of.
    for (const std::int64_t each : {std::int64_t{8}, std::int64_t{4'000}, std::int64_t{100'000}}) {
      CAPTURE(program::name_of(kind), each);
      const auto agrees = [&](const char* algorithm, const Idle& idle) {
        const std::int64_t bytes = each * static_cast<std::int64_t>(idle.group.members.size());
        CAPTURE(algorithm, idle.group.members.size());
        CHECK(closed_form(idle, algorithm, kind, bytes) == idle.time(algorithm, kind, bytes));
      };
      for (const std::size_t size : {3, 5, 7, 9}) {
        Idle ladder = dies("mesh", 2, 5);
        ladder.group.members.resize(size);
        agrees("ring-bi-odd", ladder);
      }
      for (const auto& [columns, rows] : {std::pair(3, 3), std::pair(5, 3), std::pair(5, 5)})
        agrees("ring-bi-odd", dies("mesh", columns, rows));
      for (const char* topology : {"mesh", "torus"}) {
        for (const auto& [columns, rows] :
             {std::pair(1, 4), std::pair(2, 1), std::pair(3, 2), std::pair(4, 4), std::pair(5, 3), std::pair(3, 7)}) {
          for (const char* algorithm : {"mesh", "mesh-scatter"}) agrees(algorithm, dies(topology, columns, rows));
        }
      }
      agrees("mesh", some_dies(4, 4, {5, 6, 9, 10, 13, 14}));
      agrees("mesh-scatter", some_dies(4, 4, {14, 5, 10, 9, 13, 6}));
    }
  }
}

TEST_CASE("multitree on 2 x 2: every tree has two children of the root and one of theirs") {
  // Step 0: each die sends its chunk to both neighbours, over all eight links. Step 1: the one opposite gets it from
  // the neighbour that joined first. 4 MB: two steps of 1 MB, 1.1 us each.
  const Idle square = dies("mesh", 2, 2);
  using Edges = std::set<std::pair<std::uint32_t, std::uint32_t>>;
  CHECK(tree_of(square, "multitree", 0) == Edges{{0, 1}, {0, 2}, {1, 3}});
  CHECK(tree_of(square, "multitree", 3) == Edges{{3, 1}, {3, 2}, {1, 0}});
  for (const CollectiveKind pass : one_pass) CHECK(square.time("multitree", pass, 4'000'000) == 2'200 * nanosecond);
  CHECK(square.all_reduce("multitree", 4'000'000) == 4'400 * nanosecond);
}

TEST_CASE("a synthesised tree goes round a dead link") {
  // Whole, each die of 2 x 2 has two links for six halves of chunks: three steps of 100 ns + 0.5 us. With the link
  // between dies 0 and 1 dead the dies are a row: 0, 2, 3, 1. Chunks are whole, since the ends have one link; the chunk
  // of an end travels three links, 100 ns + 1 us each, and the others keep out of its way.
  const Idle square = dies("mesh", 2, 2);
  const Idle cut = dies("mesh", 2, 2, "[[fault]]\nlink = [[0, 0], [1, 0]]\ndead = true\n");
  using Edges = std::set<std::pair<std::uint32_t, std::uint32_t>>;
  CHECK(tree_of(cut, "synthesised", 0) == Edges{{0, 2}, {2, 3}, {3, 1}});
  CHECK(tree_of(cut, "synthesised", 1) == Edges{{1, 3}, {3, 2}, {2, 0}});
  CHECK(tree_of(cut, "synthesised", 2) == Edges{{2, 0}, {2, 3}, {3, 1}});
  for (const CollectiveKind pass : one_pass) {
    CHECK(square.time("synthesised", pass, 4'000'000) == 1'800 * nanosecond);
    CHECK(cut.time("synthesised", pass, 4'000'000) == 3'300 * nanosecond);
  }
  CHECK(square.all_reduce("synthesised", 4'000'000) == 3'600 * nanosecond);
  CHECK(cut.all_reduce("synthesised", 4'000'000) == 6'600 * nanosecond);
}

TEST_CASE(
    "a synthesised schedule leaves a slow link out where others are faster, and takes it along where they are not") {
  // Three in a ring. Whole: each sends to both others, one step. With half of the bandwidth the link between 0 and 1
  // takes 2 us for 1 MB, and the way over 2 two steps: its chunks go over it, 100 ns + 2 us, and none over 2. With a
  // quarter it would take 4 us: both chunks go over 2, in the second of two steps of 100 ns + 1 us.
  const auto ring = [](const std::string& share) {
    return Idle(
        "kind = \"ring\"\ndevices = 3\nbandwidth = \"1000 GB/s\"\nlatency = \"100 ns\"\n[[fault]]\n"
        "link = [\"gpu 0\", \"gpu 1\"]\nbandwidth = \"" +
        share + "\"\n");
  };
  using Edges = std::set<std::pair<std::uint32_t, std::uint32_t>>;
  CHECK(tree_of(ring("50 %"), "synthesised", 0) == Edges{{0, 1}, {0, 2}});
  CHECK(tree_of(ring("25 %"), "synthesised", 0) == Edges{{0, 2}, {2, 1}});
  for (const CollectiveKind pass : one_pass) {
    CHECK(ring("100 %").time("synthesised", pass, 3'000'000) == 1'100 * nanosecond);
    CHECK(ring("50 %").time("synthesised", pass, 3'000'000) == 2'100 * nanosecond);
    CHECK(ring("25 %").time("synthesised", pass, 3'000'000) == 2'200 * nanosecond);
  }
}

TEST_CASE("the time of a schedule's own steps is the simulated one") {
  const std::string faults =
      "[[fault]]\nlink = [[1, 0], [1, 1]]\ndead = true\n"
      "[[fault]]\nlink = [[0, 1], [0, 2]]\nbandwidth = \"30 %\"\none_way = true\n";
  for (const char* algorithm : {"multitree", "synthesised"}) {
    for (const CollectiveKind kind : all_passes) {
      for (const std::int64_t bytes : {std::int64_t{7'000}, std::int64_t{1'000'002}, std::int64_t{50'331'648}}) {
        for (const auto& [columns, rows] : {std::pair(2, 3), std::pair(3, 3), std::pair(4, 4), std::pair(7, 8)}) {
          for (const std::string& broken : {std::string(), faults}) {
            const Idle idle = dies("mesh", columns, rows, broken);
            CAPTURE(algorithm, program::name_of(kind), bytes, columns, rows, broken);
            CHECK(closed_form(idle, algorithm, kind, bytes) == idle.time(algorithm, kind, bytes));
          }
        }
      }
    }
  }
}

TEST_CASE("by links: random programs take the same picoseconds by all laws as by none") {
  std::uint64_t by_plan = 0;
  for (const test::SiteKind kind : test::site_kinds) {
    for (std::uint64_t index = 0; index < test::random_cases(100); ++index) {
      const test::ProgramCase made = test::random_by_links(kind, index);
      CAPTURE(static_cast<int>(kind), index);
      test::check_same(test::run_recorded(made, Laws::all).results, test::run_recorded(made, Laws::none).results);
      by_plan += test::collectives_by_plan(made);
    }
  }
  CHECK(by_plan > test::random_cases(100));
}

}  // namespace tessera::sim
