// Single steps against what the algorithms' descriptions say.
#include <catch2/catch.hpp>

#include <algorithm>

#include "machines.hpp"
#include "tessera/base/error.hpp"
#include "tessera/program/collective.hpp"

namespace tessera::program {
namespace {

struct Steps {
  Collective collective;
  Group group;
  machine::Machine machine;

  Steps(const char* algorithm, CollectiveKind kind, std::int64_t bytes, machine::Machine on) : machine(std::move(on)) {
    collective.kind = kind;
    collective.bytes = Bytes{bytes};
    collective.algorithm = algorithm_index(algorithm);
    for (DeviceId i = 0; i < machine.devices(); ++i) group.members.push_back(i);
  }
  [[nodiscard]] CollectiveCall call(std::uint32_t rank) const { return make_call(collective, group, rank, machine); }
  [[nodiscard]] std::uint32_t count(std::uint32_t rank) const {
    return built_in_collectives().all()[collective.algorithm]->steps(call(rank));
  }
  [[nodiscard]] Step at(std::uint32_t rank, std::uint32_t index) const {
    Step step;
    built_in_collectives().all()[collective.algorithm]->step(call(rank), index, step);
    return step;
  }
};

}  // namespace

TEST_CASE("chunks are whole elements and differ by at most one") {
  // 11 elements of 4 bytes in 3 parts: 4, 4 and 3 elements.
  CHECK(chunk_bytes(Bytes{44}, Bytes{4}, 3, 0) == Bytes{16});
  CHECK(chunk_bytes(Bytes{44}, Bytes{4}, 3, 1) == Bytes{16});
  CHECK(chunk_bytes(Bytes{44}, Bytes{4}, 3, 2) == Bytes{12});
  // Fewer elements than parts: some chunks are empty.
  CHECK(chunk_bytes(Bytes{4}, Bytes{2}, 3, 1) == Bytes{2});
  CHECK(chunk_bytes(Bytes{4}, Bytes{2}, 3, 2) == Bytes{0});
}

TEST_CASE("a ring all-reduce sends to the next member only, in 2(N-1) steps of 1/N of the data") {
  const Steps ring("ring", CollectiveKind::all_reduce, 8000, line_of(8));
  CHECK(ring.count(3) == 14);
  const Step first = ring.at(3, 0);
  REQUIRE(first.sends.size() == 1);
  CHECK(first.sends[0].peer == 4);
  CHECK(first.sends[0].bytes == 1000);
  CHECK(first.receives[0].peer == 2);
  CHECK(first.reduce == 1000);
  CHECK(ring.at(3, 7).reduce == 0);
}

TEST_CASE("as many rings as NICs: each enters and leaves the nodes at another member, with its part of every chunk") {
  // Two nodes of four, a NIC each: 8 chunks of 1,000 B in 4 parts. Ring 2 goes 2 3 0 1 | 6 7 4 5: it leaves node 0 at
  // member 1, whose first message is that chunk's part that the member before last in the ring owns, 2,000 + 500 B into
  // the buffer: the owner of position p - 1 is member 0, chunk 0.
  Steps rings("ring", CollectiveKind::all_reduce, 8000, nodes_of(8, 4));
  CollectiveCall call = rings.call(1);
  const CollectiveAlgorithm& ring = algorithm_of(call);
  REQUIRE(ring.strands(call) == 4);
  call.strand = 2;
  CHECK(ring.steps(call) == 14);
  Step step;
  ring.step(call, 0, step);
  REQUIRE(step.sends.size() == 1);
  CHECK(step.sends[0].peer == 6);
  CHECK(step.sends[0].bytes == 250);
  CHECK(step.sends[0].offset == 0 * 1000 + 2 * 250);
  CHECK(step.receives[0].peer == 0);
  // Over all rings it sends to member 2 of its node, three times, and to the next node once.
  std::vector<std::uint32_t> to;
  ring.destinations(call, to);
  std::sort(to.begin(), to.end());
  CHECK(to == std::vector<std::uint32_t>{2, 2, 2, 6});
}

TEST_CASE(
    "one ring where a node has one member or one NIC, where members are uneven, or where the collective says so") {
  const auto rings = [](const machine::Machine& machine, const Group& group, std::uint32_t at_most = 0) {
    Collective collective;
    collective.bytes = Bytes{8000};
    collective.rings = at_most;
    return lowering_of(collective, group, machine).rings;
  };
  const machine::Machine own_nics = nodes_of(16, 4), shared = nodes_of(16, 4, 2), one = nodes_of(16, 4, 1);
  const Group all{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
  CHECK(rings(own_nics, all) == 4);
  CHECK(rings(shared, all) == 2);
  CHECK(rings(one, all) == 1);
  CHECK(rings(own_nics, all, 3) == 3);
  CHECK(rings(own_nics, all, 1) == 1);
  CHECK(rings(own_nics, all, 64) == 4);
  CHECK(rings(own_nics, Group{{0, 4, 8, 12}}) == 1);
  CHECK(rings(own_nics, Group{{0, 1, 2, 3}}) == 1);
  CHECK(rings(own_nics, Group{{0, 2, 4, 6}}) == 2);
  CHECK(rings(shared, Group{{0, 1, 4, 5}}) == 1);
  CHECK(rings(shared, Group{{0, 2, 4, 6}}) == 2);
  CHECK(rings(shared, Group{{0, 1, 2, 4, 5, 6}}) == 1);  // two of three members share a NIC
  CHECK(rings(own_nics, Group{{0, 1, 2, 4, 5}}) == 1);
  CHECK(rings(own_nics, Group{{0, 4, 1, 5}}) == 1);
  CHECK(rings(shared, Group{{0, 2, 1, 3, 4, 6, 5, 7}}) == 1);  // two NICs, but not side by side
  CHECK(rings(mesh_of(4, 4), all) == 1);
  // Each ring has a lane, of which there are 64.
  Group large;
  for (DeviceId i = 0; i < 256; ++i) large.members.push_back(i);
  CHECK(rings(nodes_of(256, 128), large) == 64);
}

TEST_CASE("auto takes the exchange of all with all for small buffers, then the hierarchy, then the rings") {
  // 64 devices in nodes of 8, 1 us and 100 GB/s inside, 5 us and 10 GB/s between nodes, in ns. Ring: 126 steps, of
  // which an eighth crosses nodes: some 1,500 x 126. Hierarchical: 14 x 1,000 inside and 14 x 5,000 across. Tree: 2 x
  // (3 x 1,000 + 3 x 5,000), but the whole buffer in every one of the 12 messages. Direct: 2 x 5,000, and all of the
  // buffer over one NIC, twice. Of 1 GB the rings move 2 GB over eight NICs of 10 GB/s, 25 ms; so does the hierarchy,
  // after 2 x 7/8 GB inside a node at 100 GB/s, 17.5 ms.
  const machine::Machine machine = nodes_of(64, 8);
  Group group;
  for (DeviceId i = 0; i < 64; ++i) group.members.push_back(i);
  const auto chosen = [&](std::int64_t bytes, CollectiveKind kind = CollectiveKind::all_reduce) {
    Collective collective;
    collective.kind = kind;
    collective.bytes = Bytes{bytes};
    collective.algorithm = algorithm_index("auto");
    return built_in_collectives().all()[lowering_of(collective, group, machine).algorithm]->name();
  };
  CHECK(chosen(1000) == "direct");
  CHECK(chosen(1'000'000) == "hierarchical");
  CHECK(chosen(1'000'000'000) == "ring");
  CHECK(chosen(1000, CollectiveKind::all_gather) == "direct");
  CHECK(chosen(1'000'000'000, CollectiveKind::reduce_scatter) == "ring");
  CHECK(chosen(1'000'000, CollectiveKind::broadcast) == "binomial-tree");
}

TEST_CASE("a bidirectional ring sends half a chunk each way, on two lanes") {
  const Steps ring("bidirectional-ring", CollectiveKind::all_reduce, 8000, line_of(8));
  CHECK(ring.count(3) == 14);
  const Step first = ring.at(3, 0);
  REQUIRE(first.sends.size() == 2);
  CHECK(first.sends[0].peer == 4);
  CHECK(first.sends[1].peer == 2);
  CHECK(first.sends[0].bytes == 500);
  CHECK(first.sends[1].bytes == 500);
  CHECK(first.sends[0].lane != first.sends[1].lane);
}

TEST_CASE("a binomial broadcast serves the largest subtree first and waits for each message to leave") {
  Steps tree("binomial-tree", CollectiveKind::broadcast, 64, line_of(6));
  tree.collective.root = 4;
  // Relative to the root (rank 4), member r stands at r - 4 mod 6. The root serves 4, 2 and 1: ranks 2, 0 and 5.
  REQUIRE(tree.count(4) == 3);
  CHECK(tree.at(4, 0).sends[0].peer == 2);
  CHECK(tree.at(4, 1).sends[0].peer == 0);
  CHECK(tree.at(4, 2).sends[0].peer == 5);
  CHECK(tree.at(4, 0).wait_sends);
  // Relative 2 (rank 0) receives from the root and serves 3 (rank 1).
  REQUIRE(tree.count(0) == 2);
  CHECK(tree.at(0, 0).receives[0].peer == 4);
  CHECK(tree.at(0, 1).sends[0].peer == 1);
  // Relative 5 (rank 3) is a leaf under 4 (rank 2).
  REQUIRE(tree.count(3) == 1);
  CHECK(tree.at(3, 0).receives[0].peer == 2);
}

TEST_CASE("dissemination: sums of 1, 2, 3 and 6 members, from those 1, 1 and 3 ranks before") {
  const Steps six("dissemination", CollectiveKind::all_reduce, 64, line_of(6));
  REQUIRE(six.count(5) == 3);
  const std::uint32_t to[] = {0, 0, 2}, from[] = {4, 4, 2};
  for (std::uint32_t round = 0; round < 3; ++round) {
    const Step step = six.at(5, round);
    REQUIRE(step.sends.size() == 1);
    CHECK(step.sends[0].peer == to[round]);
    CHECK(step.sends[0].bytes == 64);
    CHECK(step.receives[0].peer == from[round]);
    CHECK(step.reduce == 64);
    // From 2 to 3: the sums of ranks 4 and 5, and of 3 and 4, have rank 4 in common, whose own data is left out.
    CHECK(step.sends[0].of_others == (round == 1));
  }
}

TEST_CASE("rings in a mesh are snaked: 0, 2, 4, 5, 3, 1") {
  const Steps mesh("mesh", CollectiveKind::all_reduce, 6000, mesh_of(6, 1));
  const std::uint32_t next[] = {2, 0, 4, 1, 5, 3};
  for (std::uint32_t die = 0; die < 6; ++die) CHECK(mesh.at(die, 0).sends[0].peer == next[die]);
  CHECK(mesh.count(0) == 10);
}

TEST_CASE("a torus closes its rows and columns by itself") {
  const Steps torus("mesh", CollectiveKind::all_reduce, 6000, mesh_of(4, 3, "torus"));
  CHECK(torus.at(3, 0).sends[0].peer == 0);
  CHECK(torus.count(0) == 2 * 3 + 2 * 2);
  // The first step in the column: die 1 of row 0 to the one below, die 9 of the last row round to row 0.
  CHECK(torus.at(1, 6).sends[0].peer == 5);
  CHECK(torus.at(9, 6).sends[0].peer == 1);
}

TEST_CASE("columns of mesh carry the whole buffer, those of mesh-scatter a share") {
  const Steps plain("mesh", CollectiveKind::all_reduce, 16000, mesh_of(4, 4));
  const Steps scatter("mesh-scatter", CollectiveKind::all_reduce, 16000, mesh_of(4, 4));
  CHECK(plain.at(5, 6).sends[0].bytes == 4000);
  CHECK(scatter.at(5, 3).sends[0].bytes == 1000);
  CHECK(plain.count(5) == scatter.count(5));
}

TEST_CASE("a mesh's rings go by where members stand, not by their order in the group") {
  // A row of six from right to left: rank r is die 5 - r. The snake goes through dies 0, 2, 4, 5, 3, 1, so die 0, rank
  // 5, sends to die 2, rank 3.
  Steps mesh("mesh", CollectiveKind::all_reduce, 6000, mesh_of(6, 1));
  std::ranges::reverse(mesh.group.members);
  const std::uint32_t next[] = {2, 0, 4, 1, 5, 3};  // die
  for (std::uint32_t die = 0; die < 6; ++die) CHECK(mesh.at(5 - die, 0).sends[0].peer == 5 - next[die]);
}

TEST_CASE("a message of mesh-scatter carries the chunks of a column's members, one of mesh those of a row's") {
  // Dies 0 1 over 2 3 are ranks 0 2 over 3 1. Of 5 elements of 2 B rank 0 has two, all others one: column 0 (ranks 0
  // and 3) has 6 B, column 1 (ranks 2 and 1) 4 B; row 0 (ranks 0 and 2) 6 B, row 1 (ranks 3 and 1) 4 B.
  Steps scatter("mesh-scatter", CollectiveKind::reduce_scatter, 10, mesh_of(2, 2));
  scatter.group.members = {0, 3, 1, 2};
  CHECK(scatter.count(0) == 2);
  // First the row: rank 0 gives column 1's to rank 2, and gets its own column's. Then the column: rank 3's to rank 3.
  CHECK(scatter.at(0, 0).sends[0].peer == 2);
  CHECK(scatter.at(0, 0).sends[0].bytes == 4);
  CHECK(scatter.at(0, 0).reduce == 6);
  CHECK(scatter.at(0, 1).sends[0].peer == 3);
  CHECK(scatter.at(0, 1).sends[0].bytes == 2);
  CHECK(scatter.at(0, 1).reduce == 4);
  Steps plain = scatter;
  plain.collective.algorithm = algorithm_index("mesh");
  // First the column: rank 0 gives row 1's to rank 3. Then the row: rank 2's to rank 2.
  CHECK(plain.at(0, 0).sends[0].peer == 3);
  CHECK(plain.at(0, 0).sends[0].bytes == 4);
  CHECK(plain.at(0, 1).sends[0].peer == 2);
  CHECK(plain.at(0, 1).sends[0].bytes == 2);
  // All-gathers begin where reduce-scatters end.
  scatter.collective.kind = plain.collective.kind = CollectiveKind::all_gather;
  CHECK(scatter.at(0, 0).sends[0].peer == 3);
  CHECK(scatter.at(0, 1).sends[0].peer == 2);
  CHECK(scatter.at(0, 1).sends[0].bytes == 6);
  CHECK(plain.at(0, 0).sends[0].peer == 2);
  CHECK(plain.at(0, 1).sends[0].peer == 3);
  CHECK(plain.at(0, 1).sends[0].bytes == 6);
}

TEST_CASE("all-to-all by shares splits every buffer alike, to the element") {
  Steps uneven("direct", CollectiveKind::all_to_all, 202, line_of(4));
  uneven.collective.shares = {1, 0, 2, 1};
  // 101 elements of 2 bytes: boundaries at 25.25, 25.25 and 75.75, rounded to 25, 25 and 76.
  const Step step = uneven.at(1, 0);
  REQUIRE(step.sends.size() == 3);
  CHECK(step.sends[0].peer == 2);
  CHECK(step.sends[0].bytes == 102);
  CHECK(step.sends[1].bytes == 50);
  CHECK(step.sends[2].bytes == 50);
  for (const Transfer& receive : step.receives) CHECK(receive.bytes == 0);
  Steps pairwise = uneven;
  pairwise.collective.algorithm = algorithm_index("ring");
  CHECK(pairwise.at(1, 0).sends[0].bytes == 102);
  CHECK(pairwise.at(3, 2).receives[0].bytes == 50);
}

TEST_CASE("wrong names, kinds and sizes are refused") {
  CHECK_THROWS_WITH(algorithm_index("rnig"),
                    Catch::Contains("did you mean \"ring\"?") && Catch::Contains("binomial-tree"));
  CollectiveChoices choices;
  CHECK(choices.index_for(CollectiveKind::broadcast) == algorithm_index("binomial-tree"));
  choices.broadcast = "ring";
  CHECK_THROWS_WITH(choices.index_for(CollectiveKind::broadcast), Catch::Contains("has no broadcast"));
  const Group pair{{0, 1}};
  Collective collective;
  collective.bytes = Bytes{1001};
  CHECK(check_collective(collective, pair, line_of(2)) == "1001 bytes are not a whole number of elements of 2 bytes");
  collective.bytes = Bytes{1000};
  collective.element = Bytes{0};
  CHECK_FALSE(check_collective(collective, pair, line_of(2)).empty());
  collective = {CollectiveKind::broadcast, 0, Bytes{1000}, Bytes{2}, algorithm_index("direct"), 2, {}};
  CHECK(check_collective(collective, pair, line_of(2)) == "root 2 in a group of 2");
  collective = {CollectiveKind::all_to_all, 0, Bytes{1000}, Bytes{2}, algorithm_index("direct"), 0, {1, 2, 3}};
  CHECK(check_collective(collective, pair, line_of(2)) == "3 shares for 2 members");
  collective.shares = {0, 0};
  CHECK(check_collective(collective, pair, line_of(2)) == "all shares are 0");
}

}  // namespace tessera::program
