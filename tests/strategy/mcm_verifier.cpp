// The static constraints as the paper writes them (section 3, Equations 2 to 4), on graphs small enough to see.
#include "strategy/mcm/verifier.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "mcm_graphs.hpp"
#include "tessera/base/error.hpp"

using namespace tessera::strategy::mcm;
using namespace tessera::strategy::mcm::tests;

namespace {

std::string violation(const Problem& problem, const Partition& partition) {
  return find_violation(problem, partition).value_or("valid");
}

}  // namespace

TEST_CASE("the violations of the paper's Figure 2, on a graph with the edges that its text names", "[mcm]") {
  const Problem problem = figure_2();
  SECTION("a partition in order: 0 on chip 0, its readers on chip 1, the rest on chip 2") {
    // Chips 0 -> 1 -> 2. 3 is with its source on chip 1, 4 behind both branches.
    CHECK(violation(problem, {0, 1, 1, 1, 2}) == "valid");
  }
  SECTION("(c) data from node 2 on chip 1 to node 4 on chip 0") {
    CHECK(violation(problem, {0, 0, 1, 0, 0}) == "edge 2 -> 4 goes from chip 1 back to chip 0");
  }
  SECTION("(d) nothing is on chip 1") {
    CHECK(violation(problem, {0, 0, 0, 2, 2}) == "chip 1 is skipped: nothing is on it, and node 3 is on chip 2");
  }
  SECTION("(e) chip 0 feeds chip 2 by 0 -> 2, and over chip 1 by 0 -> 1 -> 3") {
    CHECK(violation(problem, {0, 1, 2, 2, 2}) ==
          "edge 0 -> 2 goes from chip 0 to chip 2 directly, and a path of 2 leads there over chip 1");
  }
  SECTION("(f), too much memory on a chip, is for those who know the schedule: all on one chip is valid here") {
    CHECK(violation(problem, {0, 0, 0, 0, 0}) == "valid");
  }
}

TEST_CASE("chips at the end may stay empty, chips between may not", "[mcm]") {
  const Problem problem = chain_of(3, 36);
  CHECK(violation(problem, {0, 1, 2}) == "valid");
  CHECK(violation(problem, {1, 1, 1}) == "chip 0 is skipped: nothing is on it, and node 0 is on chip 1");
}

TEST_CASE("chips side by side are valid as long as no edge stands beside a path", "[mcm]") {
  // Chip 0 feeds 1 and 2, both feed 3: the longest path between each pair that an edge joins is that edge.
  CHECK(violation(diamond(4), {0, 1, 2, 3}) == "valid");
  // With 0 -> 3 an edge stands beside 0 -> 1 -> 3 and 0 -> 2 -> 3.
  Problem closed = diamond(4);
  closed.edges.push_back({0, 3});
  CHECK(violation(closed, {0, 1, 2, 3}) ==
        "edge 0 -> 3 goes from chip 0 to chip 3 directly, and a path of 2 leads there over chip 1");
  // Two chips without a path between them do not count: nodes that nothing joins can be anywhere.
  CHECK(violation({3, 3, {}}, {2, 0, 1}) == "valid");
}

TEST_CASE("the longest path decides, not the first one", "[mcm]") {
  // 0 -> 1 -> 2 -> 3 and 0 -> 3, a node a chip: 3 steps lead where the edge does.
  Problem problem = chain_of(4, 4);
  problem.edges.push_back({0, 3});
  CHECK(violation(problem, {0, 1, 2, 3}) ==
        "edge 0 -> 3 goes from chip 0 to chip 3 directly, and a path of 3 leads there over chip 2");
}

TEST_CASE("a block with a residual is on two chips at most, its experts too", "[mcm]") {
  // 0 is read by experts 1 to 4 and by the sum 5 behind them. 0 is on chip 0, since all others are behind it. The sum
  // is on chip 0 with all others, or on chip 1 with each expert on either chip: 1 + 2^4 partitions. An expert between
  // the two would be a path of two beside 0 -> 5.
  Problem block{6, 6, {{0, 5}}};
  for (const NodeId expert : {1, 2, 3, 4}) {
    block.edges.push_back({0, expert});
    block.edges.push_back({expert, 5});
  }
  const Partitions valid = brute_force(block);
  CHECK(valid.size() == 17);
  for (const Partition& partition : valid) CHECK(*std::ranges::max_element(partition) <= 1);
  CHECK(violation(block, {0, 1, 1, 1, 1, 2}) ==
        "edge 0 -> 5 goes from chip 0 to chip 2 directly, and a path of 2 leads there over chip 1");
  // A residual with a node of its own is no such edge: four chips stand between 0 and the sum, side by side.
  block.edges.front() = {4, 5};
  CHECK(violation(block, {0, 1, 2, 3, 4, 5}) == "valid");
}

TEST_CASE("what is no partition of the graph at all", "[mcm]") {
  CHECK(violation(diamond(4), {0, 0, 0}) == "the partition has 3 nodes, the graph 4");
  CHECK(violation(diamond(4), {0, 0, 0, 4}) == "node 3 is on chip 4, and there are 4 chips");
}

TEST_CASE("problems that are none are refused in a line", "[mcm]") {
  CHECK_THROWS_WITH(check_problem({0, 4, {}}), "the graph has no nodes");
  CHECK_THROWS_WITH(check_problem({4, 0, {}}), "the package has no chips");
  CHECK_THROWS_WITH(check_problem({4, 257, {}}), "the package has 257 chips, and at most 256 can be cut over");
  CHECK_THROWS_WITH(check_problem({2, 4, {{0, 2}}}), "edge 0 -> 2: there are 2 nodes");
  CHECK_THROWS_WITH(check_problem({4, 4, {{0, 1}, {1, 2}, {2, 1}}}),
                    "the graph has a cycle: node 1 waits for itself or for nodes of the cycle");
}
