// A partition as rows of results.
#include "strategy/mcm/placement.hpp"

#include <catch2/catch.hpp>

#include "mcm_packages.hpp"

using namespace tessera;
using namespace tessera::strategy;
using namespace tessera::strategy::mcm;
using namespace tessera::strategy::mcm::tests;

TEST_CASE("mcm: a placement has each node with its chip, time and weights, and each edge once") {
  // a makes 5 B and 7 B, b reads both and a weight of 40 B twice; the second chip is device 3, at half speed.
  GraphCase made;
  const auto both = made.node("a", 10, {}, {5, 7});
  const auto weight = made.tensor(workload::TensorKind::parameter, 40);
  made.node("b", 20, {both[0], both[1], weight, weight}, {1});
  const Package package = assemble(made.graph, {10, 20}, {{0, 1.0}, {3, 0.5}}, 1000);
  const std::vector<DataTable> tables = placement_tables(package, {0, 1});
  REQUIRE(tables.size() == 2);
  const DataTable &nodes = tables[0], &edges = tables[1];
  CHECK(nodes.name == "partition");
  CHECK(nodes.values<std::int32_t>("node") == std::vector<std::int32_t>{0, 1});
  CHECK(nodes.values<std::int32_t>("device") == std::vector<std::int32_t>{0, 3});
  CHECK(nodes.values<std::int64_t>("time_ps") == std::vector<Time>{10, 40});
  CHECK(nodes.values<std::int64_t>("weights") == std::vector<std::int64_t>{0, 40});
  CHECK(nodes.values<std::string>("name") == std::vector<std::string>{"a", "b"});
  CHECK(edges.name == "graph_edges");
  CHECK(edges.values<std::int32_t>("from") == std::vector<std::int32_t>{0});
  CHECK(edges.values<std::int32_t>("to") == std::vector<std::int32_t>{1});
  CHECK(edges.values<std::int64_t>("bytes") == std::vector<std::int64_t>{12});
  for (const DataTable& table : tables) CHECK(problem_of(table).empty());
}

TEST_CASE("mcm: a replicated node is placed on each chip that has a copy") {
  // A mask that all six of a chain read, over two chips: it is no part of the problem, and there for both.
  GraphCase made;
  const auto mask = made.node("mask", 1, {}, {1});
  std::vector<workload::TensorId> before;
  for (int i = 0; i < 6; ++i) {
    std::vector<workload::TensorId> reads = before;
    reads.push_back(mask.front());
    reads.push_back(made.tensor(workload::TensorKind::parameter, 1));
    before = made.node(numbered("n", i), 10, reads, {1});
  }
  for (workload::GraphNode& node : made.graph.nodes)
    if (node.name != "mask") node.work.forward.front().kind = workload::OperatorKind::gemm;
  const Package package = package_of(made.graph, 6);
  REQUIRE(package.reduced.replicated.size() == 1);
  const std::vector<DataTable> tables = placement_tables(package, {0, 0, 0, 1, 1, 1});
  CHECK(tables[0].values<std::int32_t>("node") == std::vector<std::int32_t>{0, 0, 1, 2, 3, 4, 5, 6});
  CHECK(tables[0].values<std::int32_t>("device") == std::vector<std::int32_t>{0, 1, 0, 0, 0, 1, 1, 1});
  CHECK(tables[1].rows() == 11);
}
