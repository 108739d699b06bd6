// SAMPLE and FIX (Algorithms 1 and 2) on many graphs, judged by the verifier.
#include "strategy/mcm/partitioner.hpp"

#include <catch2/catch.hpp>

#include "mcm_graphs.hpp"
#include "support/random_cases.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::strategy::mcm;
using namespace tessera::strategy::mcm::tests;

namespace {

std::string violation(const Problem& problem, const Partition& partition) {
  return find_violation(problem, partition).value_or("");
}

// Chips drawn without any rule, in the way of a policy that has not learnt it.
Partition any_partition(const Problem& problem, std::uint64_t index) {
  const KeyedRandom random(index, random_stream("mcm test candidate"));
  Partition partition(problem.nodes);
  for (NodeId node = 0; node < problem.nodes; ++node)
    partition[node] = static_cast<ChipId>(random.below(node, problem.chips));
  return partition;
}

// Layers of three branches that are joined, with a residual edge beside them.
Problem residual_layers(std::uint32_t layers, std::uint32_t chips) {
  Problem problem{1, chips, {}};
  for (std::uint32_t layer = 0; layer < layers; ++layer) {
    const NodeId input = problem.nodes - 1, first = problem.nodes;
    for (NodeId branch = 0; branch < 3; ++branch) {
      problem.edges.push_back({input, first + branch});
      problem.edges.push_back({first + branch, first + 3});
    }
    problem.edges.push_back({input, first + 4});
    problem.edges.push_back({first + 3, first + 4});
    problem.nodes += 5;
  }
  return problem;
}

}  // namespace

TEST_CASE("SAMPLE is valid on thousands of graphs, in any order of nodes", "[mcm]") {
  for (const std::string name : {"chain", "levels", "complete"}) {
    for (std::uint64_t index = 0; index < test::random_cases(1000); ++index) {
      // `complete` is for small graphs.
      const Problem problem = random_problem(index, name == "complete" ? 12 : 60, name == "complete" ? 6 : 40);
      CAPTURE(name, index, problem.nodes, problem.chips, problem.edges.size());
      Partitioner partitioner(problem, name, index % 2 == 0 ? NodeOrder::random : NodeOrder::topological);
      for (std::uint64_t draw = 0; draw < 3; ++draw)
        REQUIRE(violation(problem, partitioner.sample(Distribution::uniform(), index, draw)).empty());
    }
  }
}

TEST_CASE("FIX is valid on thousands of graphs, and leaves a valid candidate as it is", "[mcm]") {
  for (const std::string name : {"chain", "levels", "complete"}) {
    std::size_t changed = 0;
    for (std::uint64_t index = 0; index < test::random_cases(1000); ++index) {
      const Problem problem = random_problem(index, name == "complete" ? 12 : 60, name == "complete" ? 6 : 40);
      CAPTURE(name, index, problem.nodes, problem.chips, problem.edges.size());
      Partitioner partitioner(problem, name, index % 2 == 0 ? NodeOrder::random : NodeOrder::topological);
      const Partition candidate = any_partition(problem, index);
      const Partition fixed = partitioner.fix(candidate, index, 0);
      REQUIRE(violation(problem, fixed).empty());
      REQUIRE((fixed == candidate) == violation(problem, candidate).empty());
      REQUIRE(partitioner.fix(fixed, index, 1) == fixed);
      changed += fixed == candidate ? 0 : 1;
    }
    CHECK(changed > test::random_cases(500));
  }
}

TEST_CASE("Algorithm 2 by itself keeps what its template allows", "[mcm]") {
  // Without the look at the candidate that Partitioner::fix() begins with.
  for (const std::string name : {"chain", "levels", "complete"}) {
    for (std::uint64_t index = 0; index < 500; ++index) {
      const Problem problem = random_problem(index, name == "complete" ? 12 : 60, name == "complete" ? 6 : 40);
      CAPTURE(name, index);
      Partitioner partitioner(problem, name);
      const Partition candidate = partitioner.sample(Distribution::uniform(), index, 0);
      std::vector<NodeId> order = partitioner.wiring().order;
      shuffle(order, KeyedRandom(index, random_stream("mcm test order")));
      partitioner.solver().init(KeyedRandom(index, 0), &candidate);
      Draws draws(KeyedRandom(index, 1));
      Partition fixed(problem.nodes);
      run_fix(partitioner.solver(), order, candidate, draws, fixed);
      REQUIRE(fixed == candidate);
      REQUIRE(partitioner.solver().effort().restarts == partitioner.effort().restarts);
    }
  }
}

TEST_CASE("a valid partition that the chain cannot make comes back from it unchanged", "[mcm]") {
  // The diamond, a node a chip: 0 on chip 0 feeds chip 2 beside chip 1.
  Partitioner partitioner(diamond(4), "chain");
  CHECK(partitioner.fix({0, 1, 2, 3}, 1, 0) == Partition{0, 1, 2, 3});
}

TEST_CASE("FIX changes what must change, and no more", "[mcm]") {
  // A chain of 4 in topological order: 0 on chip 0, 1 on chip 1; 2 cannot go back to chip 0 and is left open; 3 on
  // chip 2 is one above chip 1, so 2 ends on chip 1 or 2.
  Partitioner partitioner(chain_of(4, 4), "chain", NodeOrder::topological);
  for (std::uint64_t index = 0; index < 20; ++index) {
    const Partition fixed = partitioner.fix({0, 1, 0, 2}, 1, index);
    CHECK((fixed == Partition{0, 1, 1, 2} || fixed == Partition{0, 1, 2, 2}));
  }
}

TEST_CASE("a candidate may name chips that are not there, but has a chip for each node", "[mcm]") {
  Partitioner partitioner(chain_of(4, 4), "levels", NodeOrder::topological);
  const Partition fixed = partitioner.fix({0, 1, 999, 65535}, 1, 0);
  CHECK(violation(chain_of(4, 4), fixed).empty());
  CHECK((fixed[0] == 0 && fixed[1] == 1));
  CHECK_THROWS_WITH(partitioner.fix({0, 1}, 1, 0), "a candidate of 2 nodes for a graph of 4");
}

TEST_CASE("more than 64 chips: 65 to 256, in two to four words of a set", "[mcm]") {
  for (const std::uint32_t chips : {65U, 130U, 200U, 256U}) {
    const Problem problem = residual_layers(300, chips);
    for (const std::string name : {"chain", "levels"}) {
      CAPTURE(chips, name);
      Partitioner partitioner(problem, name);
      std::size_t top = 0;
      for (std::uint64_t index = 0; index < 10; ++index) {
        const Partition sampled = partitioner.sample(Distribution::uniform(), 7, index);
        REQUIRE(violation(problem, sampled).empty());
        top = std::max<std::size_t>(top, *std::max_element(sampled.begin(), sampled.end()));
        REQUIRE(violation(problem, partitioner.fix(any_partition(problem, index), 7, index)).empty());
      }
      CHECK(top >= 64);
    }
  }
  // A chain of n nodes has 2^(n-1) ways to be cut, however many chips there are.
  CHECK(all_of("chain", chain_of(2, 200)).size() == 2);
  CHECK(all_of("complete", chain_of(3, 200)).size() == 4);
}

TEST_CASE("nodes that nothing joins fill the chips up to the last one that is used", "[mcm]") {
  // 40 nodes and 36 chips without an edge: whoever draws chip 35 forces 36 of them apart.
  const Problem problem{40, 36, {}};
  for (const std::string name : {"chain", "levels"}) {
    Partitioner partitioner(problem, name);
    for (std::uint64_t index = 0; index < 50; ++index)
      REQUIRE(violation(problem, partitioner.sample(Distribution::uniform(), 3, index)).empty());
    CHECK(partitioner.effort().restarts == 0);
  }
}

TEST_CASE("a sample depends on seed and index alone", "[mcm]") {
  const Problem problem = residual_layers(40, 36);
  for (const std::string name : {"chain", "levels"}) {
    Partitioner one(problem, name), other(problem, name);
    std::vector<Partition> samples;
    for (std::uint64_t index = 0; index < 10; ++index) samples.push_back(one.sample(Distribution::uniform(), 5, index));
    for (std::uint64_t index = 10; index-- > 0;) {
      (void)other.fix(samples[0], 1, index);  // whatever was done before
      CHECK(other.sample(Distribution::uniform(), 5, index) == samples[index]);
    }
    CHECK(other.sample(Distribution::uniform(), 6, 0) != samples[0]);
    CHECK(samples[1] != samples[0]);
  }
}

TEST_CASE("the very samples, so that machines can be compared", "[mcm]") {
  const Problem problem = residual_layers(4, 8);
  Partitioner chain(problem, "chain"), levels(problem, "levels");
  const Distribution prior = Distribution::normal(centres_by_time(problem, std::vector<double>(21, 1.0)), 1, 8);
  CHECK(chain.sample(Distribution::uniform(), 1, 0) ==
        Partition{0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 2, 1, 2, 2, 3, 2, 3, 3, 3});
  CHECK(levels.sample(Distribution::uniform(), 1, 0) ==
        Partition{0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 2, 1, 2, 2, 3, 2, 3, 3, 3});
  CHECK(chain.sample(prior, 1, 0) == Partition{0, 0, 1, 0, 1, 1, 2, 1, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4});
}
