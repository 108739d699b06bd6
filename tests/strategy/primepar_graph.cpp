// The operators of a layer and the tensors between them: which elements of one are which of another.
#include "strategy/primepar/cuts/graph.hpp"

#include <catch2/catch.hpp>

#include <map>

#include "jobs.hpp"
#include "strategy/primepar/cuts/cut_graph.hpp"

using namespace tessera;
using namespace tessera::strategy::primepar;

namespace {

/// Eight heads of 16, of which `kv_heads` have keys and values; 4 sequences of 64 tokens.
Graph layer(std::int64_t kv_heads, bool gated = false) {
  workload::Model model = strategy::gpt(2, 128, 8);
  model.kv_heads = kv_heads;
  model.gated_mlp = gated;
  strategy::Workload workload;
  workload.sequence = 64;
  workload.global_batch = 4;
  return make_graph("layer", model, workload);
}

int number_of(const Graph& graph, const std::string& name) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].op.name == name) return static_cast<int>(i);
  }
  return -1;
}

Slices cut_as(const Graph& graph, const std::string& name, const std::string& text) {
  const Operator& op = graph.nodes[static_cast<std::size_t>(number_of(graph, name))].op;
  const Partition partition = parse_partition(op, text);
  return {op, partition, bits_of(partition)};
}

/// Elements that move forward and backward along the edges from one operator to another, in their order.
std::vector<std::pair<std::int64_t, std::int64_t>> moved(const Graph& graph, const std::string& from,
                                                         const std::string& from_text, const std::string& to,
                                                         const std::string& to_text) {
  const Slices producer = cut_as(graph, from, from_text), consumer = cut_as(graph, to, to_text);
  const auto sum = [](const std::vector<Piece>& pieces) {
    std::int64_t elements = 0;
    for (const Piece& piece : pieces) elements += piece.elements();
    return elements;
  };
  std::vector<std::pair<std::int64_t, std::int64_t>> found;
  for (const Edge& edge : graph.edges) {
    if (edge.from != number_of(graph, from) || edge.to != number_of(graph, to)) continue;
    found.emplace_back(sum(forward_redistribution(edge.shared, producer, consumer)),
                       sum(backward_redistribution(edge.shared, producer, consumer)));
  }
  return found;
}

using Moves = std::vector<std::pair<std::int64_t, std::int64_t>>;

}  // namespace

TEST_CASE("primepar: a layer's operators and what they hand on") {
  const Graph graph = layer(8);
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.op.name);
  CHECK(names == std::vector<std::string>{"attention_norm", "qkv", "scores", "softmax", "context", "projection",
                                          "attention_residual", "mlp_norm", "fc1", "activation", "fc2",
                                          "mlp_residual"});
  // A chain of 11; keys and values beside the queries; the second residual; two to the next layer.
  CHECK(graph.edges.size() == 11 + 2 + 1 + 2);
  for (const Edge& edge : graph.edges) CHECK((edge.to_next_layer || edge.from < edge.to));
}

TEST_CASE("primepar: heads that stay together move nothing") {
  for (const std::int64_t kv_heads : {8, 4}) {
    const Graph graph = layer(kv_heads);
    // Columns are in the order of the heads of keys and values: four devices have one or two whole ones each.
    CHECK(moved(graph, "qkv", "{K, K}", "scores", "{H, H}") == Moves{{0, 0}, {0, 0}});
    CHECK(moved(graph, "qkv", "{K, K}", "context", "{H, H}") == Moves{{0, 0}});
    CHECK(moved(graph, "context", "{H, H}", "projection", "{N, N}") == Moves{{0, 0}});
    CHECK(moved(graph, "qkv", "{B, M}", "scores", "{B, M}")[0] == std::pair<std::int64_t, std::int64_t>{0, 0});
  }
}

TEST_CASE("primepar: columns finer than a head send their queries, keys and values to where the head is") {
  // Two heads of keys and values, four query heads each: 6 x 16 columns a head. Cut in four, a slice has 48 columns:
  // three query heads, or the fourth one, keys and values. By heads cut in two, the other bit of the device halves the
  // queries' tokens.
  const Graph graph = layer(2);
  const std::int64_t tokens = 4 * 64;
  const Moves found = moved(graph, "qkv", "{K, K}", "scores", "{H, M}");
  // Queries of 4 x 64 tokens and a head are 64 columns; a device needs half of the tokens: the one with 48 of the
  // columns lacks 16, the other one has 16 and lacks 48. Two heads.
  CHECK(found[0].first == 2 * (16 + 48) * tokens / 2);
  // Keys, 16 columns of all tokens: the second one has them, the first one lacks them.
  CHECK(found[1].first == 2 * 16 * tokens);
  // Backward a device has the gradients of its half of the tokens, and needs those of its columns of all: the first
  // one 48 of half the tokens, the second one 16. Of the keys', the sum is on both.
  CHECK(found[0].second == 2 * (48 + 16) * tokens / 2);
  CHECK(found[1].second == 0);
}

TEST_CASE("primepar: a gated MLP's columns are pairs") {
  const Graph graph = layer(8, true);
  CHECK(moved(graph, "fc1", "{K, K, K}", "activation", "{F, F, F}") == Moves{{0, 0}});
  CHECK(moved(graph, "activation", "{F, F}", "fc2", "{N, N}") == Moves{{0, 0}});
  // From columns to tokens over two devices: each has half of what it needs, forward 2 x 512 columns of 128 tokens.
  CHECK(moved(graph, "fc1", "{K}", "activation", "{M}") == Moves{{2 * 512 * 128, 2 * 512 * 128}});
}

TEST_CASE("primepar: what is repeated is there without moving") {
  const Graph graph = layer(8);
  // A sum is on all its members; a norm that all of them repeat finds it there, and leaves what column cuts read.
  CHECK(moved(graph, "projection", "{N, N}", "attention_residual", "{R, R}") == Moves{{0, 0}});
  CHECK(moved(graph, "mlp_norm", "{R, R}", "fc1", "{K, K}") == Moves{{0, 0}});
  const Slices repeated = cut_as(graph, "mlp_norm", "{B, R}");
  CHECK(all_reduce(repeated, Phase::forward).groups.empty());
  CHECK(all_reduce(repeated, Phase::backward).groups.empty());
  // Its gain's gradient: those with the same part of the tokens have the same sum already.
  CHECK(all_reduce(repeated, Phase::gradient).groups == std::vector<std::vector<int>>{{0, 2}, {1, 3}});
  CHECK(statistics_groups(repeated).empty());
  CHECK(statistics_groups(cut_as(graph, "mlp_norm", "{H, R}")) == std::vector<std::vector<int>>{{0, 2}, {1, 3}});
  CHECK(statistics_groups(cut_as(graph, "mlp_norm", "{M, H}")) == std::vector<std::vector<int>>{{0, 1}, {2, 3}});
}
