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
  // On one chip 1. On two: 0 on chip 0, 3 on chip 1, and 1 and 2 on either, 4; all others would put 3 before its
  // sources, or empty a chip: 0 | 3 alone is among the four. On three: 0, {1, 2}, 3, 1; with 1 and 2 on different chips
  // 0 feeds both, and one of these feeds the other's chip or 3's beside a path. On four: 0, 1, 2, 3 with 1 and 2 in
  // either order, 2, where chips 1 and 2 are side by side. Chains have no such two.
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
  CHECK(count({8, 4, {{0, 1}, {1, 2}, {2, 3}, {4, 5}, {5, 6}, {6, 7}}}) == Counts{564, 528, 240});
}

TEST_CASE("a node, four branches and a node that joins them, on 5 chips: 68, of which 32 and 18", "[mcm]") {
  // Chains: 5 is 0, 1 or 2 chips above 0. With 0 all are on one chip, 1; with 1 each branch is on either, 16; with 2
  // all branches are between, 1. Levels add the two rows of four chips and of two with a pair between.
  CHECK(count({6, 5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 5}, {2, 5}, {3, 5}, {4, 5}}}) == Counts{68, 32, 18});
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
