// What each template can find, counted: by exhaustive search over the solver's decisions beside brute force over all
// partitions, which knows the verifier alone.
#include <algorithm>
#include <catch2/catch.hpp>

#include "mcm_graphs.hpp"
#include "tessera/base/error.hpp"

using namespace tessera::strategy::mcm;
using namespace tessera::strategy::mcm::tests;

namespace {

struct Counts {
  std::size_t all = 0, levels = 0, chain = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};

std::ostream& operator<<(std::ostream& out, const Counts& counts) {
  return out << counts.all << " | " << counts.levels << " | " << counts.chain;
}

// All of it, by brute force and by the solver; templates find nothing else.
Counts count(const Problem& problem) {
  const Partitions all = brute_force(problem), levels = all_of("levels", problem), chain = all_of("chain", problem);
  CHECK(all_of("complete", problem) == all);
  CHECK(std::includes(all.begin(), all.end(), levels.begin(), levels.end()));
  CHECK(std::includes(levels.begin(), levels.end(), chain.begin(), chain.end()));
  return {all.size(), levels.size(), chain.size()};
}

// The rule of the chain, said again.
bool is_chain(const Problem& problem, const Partition& partition) {
  return std::all_of(problem.edges.begin(), problem.edges.end(),
                     [&](const Edge& edge) { return partition[edge.to] - partition[edge.from] <= 1; });
}

// And that of the levels: some row of ones and twos, by bits, under which every edge climbs one level or none.
bool is_levels(const Problem& problem, const Partition& partition) {
  for (std::uint32_t wide = 0; wide < 1U << problem.chips; ++wide) {
    std::vector<int> level;
    for (std::uint32_t row = 0; level.size() < problem.chips; ++row)
      level.insert(level.end(), ((wide >> row) & 1U) + 1, static_cast<int>(row));
    if (std::all_of(problem.edges.begin(), problem.edges.end(), [&](const Edge& edge) {
          const ChipId from = partition[edge.from], to = partition[edge.to];
          return from == to || level[to] - level[from] == 1;
        }))
      return true;
  }
  return false;
}

}  // namespace

TEST_CASE("a diamond of 4 nodes on 4 chips has 8 valid partitions", "[mcm]") {
  // On one chip: 1. On two: chip 0 has 0 and any of 1 and 2, chip 1 the rest: 4. On three: 0 | 1, 2 | 3 alone: with 1
  // and 2 on different chips one of them shares 0's or 3's, and 0 -> 2 or 1 -> 3 stands beside a path. On four: 0 | 1 |
  // 2 | 3 with 1 and 2 in either order, two chips side by side: 2. The chain has no such two, hence 6.
  CHECK(count(diamond(4)) == Counts{8, 8, 6});
}

TEST_CASE("a chain of 8 nodes on 4 chips has 64: as many as ways to cut it at most three times", "[mcm]") {
  // 1 + 7 + 21 + 35 choices of 0, 1, 2 and 3 of 7 places.
  CHECK(count(chain_of(8, 4)) == Counts{64, 64, 64});
}

TEST_CASE("edges over three nodes of the chain forbid two cuts below them, and leave 32", "[mcm]") {
  // 0 -> 3 and 3 -> 6 may be cut once each: none or one of three places, twice, and the last place or not. With 7
  // places that is 4 x 4 x 2 = 32, and no more than three cuts come of it.
  Problem problem = chain_of(8, 4);
  problem.edges.push_back({0, 3});
  problem.edges.push_back({3, 6});
  CHECK(count(problem) == Counts{32, 32, 32});
}

TEST_CASE("two chains of 4 on 4 chips: 564, of which levels have 528 and chains 240", "[mcm]") {
  // Chain: each of the two covers chips b .. b + k in C(3, k) = 1, 3, 3, 1 ways, and together they cover 0 .. m, m
  // <= 3. With the first one from chip 0 on, over 1, 2, 3 or 4 chips, the other one has 15, 19, 20, 20 ways: 1 x 15 + 3
  // x 19 + 3 x 20 + 1 x 20 = 152. As many with the other one from chip 0 on, and with both 8 x 8: 152 + 152 - 64 = 240.
  // All but levels: one chain jumps from chip 0 to chip 3 (cut at one of 3 places) while the other one goes 0, 1, 2 or
  // 1, 2, 3 (cut at two of 3 places), which takes three levels: 3 x 3 x 2, and the other way round: 36 = 564 - 528.
  CHECK(count({8, 4, {{0, 1}, {1, 2}, {2, 3}, {4, 5}, {5, 6}, {6, 7}}}) == Counts{564, 528, 240});
}

TEST_CASE("a node, four branches and a node that joins them, on 5 chips: 68, of which 32 and 18", "[mcm]") {
  // Chain: 5 is 0, 1 or 2 chips above 0. With 0 all are on one chip, 1; with 1 each branch is on either, 16; with 2 all
  // branches are between, 1. Levels: two chips side by side as well, 0 | 1, 2 | 3, with all branches between and both
  // chips used: 2^4 - 2 = 14. All: three of them, 0 | 1, 2, 3 | 4, 4 branches onto 3 chips: 36. 68 = 18 + 14 + 36.
  CHECK(count({6, 5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 5}, {2, 5}, {3, 5}, {4, 5}}}) == Counts{68, 32, 18});
}

TEST_CASE("what load the chain gives away on a diamond: all of one branch", "[mcm]") {
  // Four nodes of time 1. A node a chip, with 1 and 2 side by side, is perfect balance: 1. In a chain 1 and 2 are
  // together, or one of them with 0 or 3: 2. A chain of nodes loses nothing.
  const auto slowest = [](const std::string& name, const Problem& problem) {
    std::size_t best = problem.nodes;
    for (const Partition& partition : all_of(name, problem)) {
      std::vector<std::size_t> times(problem.chips, 0);
      for (const ChipId chip : partition) ++times[chip];
      best = std::min(best, *std::max_element(times.begin(), times.end()));
    }
    return best;
  };
  CHECK(slowest("complete", diamond(4)) == 1);
  CHECK(slowest("levels", diamond(4)) == 1);
  CHECK(slowest("chain", diamond(4)) == 2);
  CHECK(slowest("chain", chain_of(4, 4)) == 1);
}

TEST_CASE("on 100 random graphs each template finds what its rule says, and complete all", "[mcm]") {
  for (std::uint64_t index = 0; index < 100; ++index) {
    const Problem problem = random_problem(index, 8, 5);
    CAPTURE(index, problem.nodes, problem.chips, problem.edges.size());
    const Partitions all = brute_force(problem);
    Partitions levels, chain;
    for (const Partition& partition : all) {
      if (is_levels(problem, partition)) levels.insert(partition);
      if (is_chain(problem, partition)) chain.insert(partition);
    }
    REQUIRE(all_of("complete", problem) == all);
    REQUIRE(all_of("levels", problem) == levels);
    REQUIRE(all_of("chain", problem) == chain);
  }
}

TEST_CASE("SAMPLE reaches every valid partition of small graphs, and nothing else", "[mcm]") {
  std::size_t largest = 0;
  for (std::uint64_t index = 0; index < 100; ++index) {
    const Problem problem = random_problem(1000 + index, 6, 4);
    for (const std::string name : {"complete", "levels", "chain"}) {
      CAPTURE(index, name);
      const Partitions all = all_of(name, problem);
      largest = std::max(largest, all.size());
      Partitioner partitioner(problem, name);
      Partitions reached;
      const std::size_t draws = 2000 * all.size();
      for (std::uint64_t draw = 0; draw < draws && reached.size() < all.size(); ++draw)
        reached.insert(partitioner.sample(Distribution::uniform(), 1, draw));
      REQUIRE(reached == all);
    }
  }
  CHECK(largest > 500);  // not trivial ones alone
}

TEST_CASE("a template that is not there is refused with those that are", "[mcm]") {
  CHECK_THROWS_WITH(Partitioner(diamond(4), "ring"), "no template \"ring\": there are chain, levels, complete");
}
