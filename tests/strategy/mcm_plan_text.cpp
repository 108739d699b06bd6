// Partitions as lines of names, and back.
#include "strategy/mcm/plan_text.hpp"

#include <catch2/catch.hpp>

#include "mcm_packages.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::strategy::mcm;
using namespace tessera::strategy::mcm::tests;

namespace {

/// Nodes of these names, one after another.
Package named(const std::vector<std::string>& names, std::uint32_t chips) {
  GraphCase made;
  std::vector<workload::TensorId> before;
  for (const std::string& name : names) before = made.node(name, 1, before, {1});
  return package_of(made.graph, chips);
}

}  // namespace

TEST_CASE("mcm: a partition is a line a chip, runs of nodes by name") {
  const Package package = named({"a", "b", "c", "d", "e"}, 4);
  CHECK(partition_text(package, {0, 0, 0, 1, 2}) == std::vector<std::string>{"a..c", "d", "e"});
  CHECK(read_partition(package, {"a..c", " d ", "e..e"}) == Partition{0, 0, 0, 1, 2});
}

TEST_CASE("mcm: names that are not a node's own, or read like something else, are numbers") {
  const Package package = named({"a", "a", "x..y", "p, q", "", "#7", "b"}, 7);
  const Partition each{0, 1, 2, 3, 4, 5, 6};
  CHECK(partition_text(package, each) == std::vector<std::string>{"#0", "#1", "#2", "#3", "#4", "#5", "b"});
  CHECK(read_partition(package, partition_text(package, each)) == each);
}

TEST_CASE("mcm: what is written is read back exactly, on thousands of random graphs") {
  for (std::uint64_t index = 0; index < 2000; ++index) {
    const Package package = package_of(random_graph(index, 12).graph, 1 + index % 6);
    Partitioner partitioner(package.reduced.problem, index % 2 == 0 ? "chain" : "complete");
    const Partition partition = partitioner.sample(Distribution::uniform(), 1, index);
    REQUIRE(read_partition(package, partition_text(package, partition)) == partition);
  }
}

TEST_CASE("mcm: partitions that are not of this graph, incomplete or invalid are refused in a line") {
  const Package package = named({"first", "second", "third", "fourth"}, 3);
  const auto problem = [&](const std::vector<std::string>& lines) -> std::string {
    try {
      static_cast<void>(read_partition(package, lines));
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  };
  CHECK(problem({"first..secnd", "third..fourth"}) ==
        "the partition puts \"secnd\" on chip 0, and the graph has no such node to place (did you mean \"second\"?)");
  CHECK(problem({"first..second", "third"}) == "the partition leaves node \"fourth\" of the graph out");
  CHECK(problem({"first..third", "third..fourth"}) == "node \"third\" is on chip 0 and on chip 1");
  CHECK(problem({"second..first", "third..fourth"}) ==
        "\"second..first\": \"second\" stands behind \"first\" in the graph");
  CHECK(problem({"first..second..third", "fourth"}) ==
        "\"first..second..third\": expected a node or a run \"first..last\"");
  CHECK(problem({"first", "second", "third", "fourth"}) == "a partition over 4 chips, and there are 3");
  CHECK(problem({"first, third", "second, fourth"}) ==
        "the partition is not valid: edge \"second\" -> \"third\" goes from chip 1 back to chip 0");
  CHECK(problem({"first", "", "second..fourth"}) ==
        "the partition is not valid: chip 1 is skipped: nothing is on it, and node \"second\" is on chip 2");
}
