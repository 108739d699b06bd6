// Nodes that are read all along a graph: copied to their readers' chips before anything is solved.
#include "strategy/mcm/replication.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "mcm_graphs.hpp"

using namespace tessera;
using namespace tessera::strategy::mcm;
using namespace tessera::strategy::mcm::tests;

namespace {

workload::TensorId tensor(workload::Graph& graph, workload::TensorKind kind) {
  std::string name = "tensor ";
  name += std::to_string(graph.tensors.size());
  graph.tensors.push_back({name, kind, 64, 128});
  return static_cast<workload::TensorId>(graph.tensors.size() - 1);
}

// Returns what it writes.
workload::TensorId add(workload::Graph& graph, const std::string& name, std::vector<workload::TensorId> reads,
                       bool is_product = false) {
  workload::GraphNode node{name, {}, std::move(reads), {tensor(graph, workload::TensorKind::made)}};
  node.work.forward = {
      is_product ? workload::gemm(name, 1, 8, 8, 8, "bf16")
                 : workload::streaming(workload::OperatorKind::elementwise, name, Bytes{128}, Bytes{128}, "bf16")};
  graph.nodes.push_back(node);
  return graph.nodes.back().writes.front();
}

// A mask made of an input in two steps, then layers of a product and a sum with the mask: node 0 casts, 1 scales, then
// 2 + 2 i is layer i's product, behind it the sum.
workload::Graph masked(int layers, int masked_layers) {
  workload::Graph graph;
  const auto cast = add(graph, "cast", {tensor(graph, workload::TensorKind::input)});
  const auto mask = add(graph, "scale", {cast, tensor(graph, workload::TensorKind::constant)});
  auto x = tensor(graph, workload::TensorKind::input);
  for (int layer = 0; layer < layers; ++layer) {
    x = add(graph, "product " + std::to_string(layer), {x, tensor(graph, workload::TensorKind::parameter)}, true);
    std::vector<workload::TensorId> reads{x};
    if (layer < masked_layers) reads.push_back(mask);
    x = add(graph, "sum " + std::to_string(layer), reads);
  }
  return graph;
}

std::size_t most_chips(const Problem& problem) {
  Partitioner partitioner(problem, "chain");
  std::size_t most = 0;
  for (std::uint64_t index = 0; index < 200; ++index) {
    const Partition sampled = partitioner.sample(Distribution::uniform(), 1, index);
    most = std::max<std::size_t>(most, *std::max_element(sampled.begin(), sampled.end()) + 1U);
  }
  return most;
}

}  // namespace

TEST_CASE("a mask that all layers read is replicated, with what it is made of, and counted", "[mcm]") {
  const workload::Graph graph = masked(12, 12);
  const Reduced reduced = reduce(graph, 8);
  // cast and scale are gone; 12 products and sums stay, a chain of 24.
  CHECK(reduced.replicated == std::vector<workload::GraphNodeId>{0, 1});
  REQUIRE(reduced.problem.nodes == 24);
  CHECK(reduced.problem.edges.size() == 23);
  CHECK_FALSE(reduced.solved_as[0]);
  CHECK(reduced.node_of.front() == 2);
  CHECK(reduced.solved_as[2] == 0U);
  // Both copies are needed by the sums, nodes 1, 3, 5, ... of the problem.
  REQUIRE(reduced.readers_of_copy.size() == 2);
  CHECK(reduced.readers_of_copy[0] == reduced.readers_of_copy[1]);
  CHECK(reduced.readers_of_copy[1].size() == 12);
  CHECK(reduced.readers_of_copy[1].front() == 1);
  // Three nodes a chip: with 0, 1, 2 on chip 0, 3, 4, 5 on chip 1 and so on each has a sum, and a copy of both.
  Partition thirds(24);
  for (std::size_t node = 0; node < 24; ++node) thirds[node] = static_cast<ChipId>(node / 3);
  CHECK(copies(reduced, thirds) == std::vector<std::vector<ChipId>>(2, {0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST_CASE("without replication the chain has three chips for all layers, with it all of them", "[mcm]") {
  // scale is at most on the chip of the first sum, all sums at most one above it, and the last sum is the last node.
  // Before the first sum there is the first product, on the chip below at the lowest.
  const workload::Graph graph = masked(12, 12);
  ReplicationRule never;
  never.spread = 2;
  const Reduced whole = reduce(graph, 8, never);
  CHECK(whole.replicated.empty());
  CHECK(whole.problem.nodes == 26);
  CHECK(most_chips(whole.problem) == 3);
  CHECK(most_chips(reduce(graph, 8).problem) == 8);
}

TEST_CASE("readers within two chips' share of the order stay with what they read", "[mcm]") {
  // 26 nodes on 8 chips: two chips' share is 6.5 nodes. Sums 0 .. 3 are nodes 3 to 9 of the order, 6 apart; with sum 4
  // they are 8 apart.
  CHECK(reduce(masked(12, 4), 8).replicated.empty());
  CHECK(reduce(masked(12, 5), 8).replicated.size() == 2);
}

TEST_CASE("what weights or products went into is not replicated", "[mcm]") {
  workload::Graph graph = masked(12, 0);
  // The first product's result is read by every layer's sum, as a skip over the whole graph would be.
  const auto skip = graph.nodes[2].writes.front();
  for (std::size_t node = 3; node < graph.nodes.size(); node += 2)
    graph.nodes[node].reads = {graph.nodes[node].reads[0], skip};
  CHECK(reduce(graph, 8).replicated.empty());
  // Nor is a mask that is trained.
  workload::Graph trained = masked(12, 12);
  trained.nodes[0].reads.push_back(tensor(trained, workload::TensorKind::parameter));
  CHECK(reduce(trained, 8).replicated.empty());
}

TEST_CASE("a graph of nothing else keeps its nodes", "[mcm]") {
  workload::Graph graph;
  const auto x = add(graph, "first", {tensor(graph, workload::TensorKind::input)});
  for (int i = 0; i < 9; ++i) (void)add(graph, "reader " + std::to_string(i), {x});
  CHECK(reduce(graph, 8).problem.nodes == 10);
}
