// Transformers as primitive operators: how many, with which weights and FLOP, and what is read where.
#include <filesystem>
#include <map>

#include "models_from.hpp"
#include "tessera/base/error.hpp"
#include "tessera/workload/graph.hpp"

namespace tessera::workload {
namespace {

std::int64_t nodes_with(const Graph& graph, const std::string& prefix) {
  return std::ranges::count_if(graph.nodes, [&](const GraphNode& node) { return node.name.starts_with(prefix); });
}

TEST_CASE("lowered: a layer of BERT is 88 primitive operators, BERT-large 2,137") {
  const Graph graph = lowered_graph(model_named("bert-large.toml"), 128, "bf16");
  CHECK(check_graph(graph).empty());
  // Six linears of product, broadcast and sum: 18. Reshape and transpose of queries, keys, values: 6. Scores and their
  // scale 2, mask 5, softmax 9, context 3, residuals 2, GELU 9, two norms of 17 each.
  const std::string layer = "layer7.";
  for (const auto& [part, count] : std::map<std::string, int>{{"query.", 5},
                                                              {"key.", 5},
                                                              {"value.", 5},
                                                              {"scores.", 2},
                                                              {"mask.", 5},
                                                              {"softmax.", 9},
                                                              {"context.", 3},
                                                              {"projection.", 3},
                                                              {"attention_residual", 1},
                                                              {"attention_norm.", 17},
                                                              {"mlp.fc1.", 3},
                                                              {"mlp.gelu.", 9},
                                                              {"mlp.fc2.", 3},
                                                              {"mlp_residual", 1},
                                                              {"mlp_norm.", 17}}) {
    CAPTURE(part);
    CHECK(nodes_with(graph, layer + part) == count);
  }
  CHECK(nodes_with(graph, layer) == 88);
  // The embedding: sums with positions and token types, and a norm of 17. The pooler: slice, reshape, linear, tanh.
  CHECK(nodes_with(graph, "pooler.") == 6);
  CHECK(graph.nodes.size() == 2 + 17 + 24 * 88 + 6);
  CHECK(graph.nodes.size() == 2137);
}

TEST_CASE("lowered: BERT-large has 302 M parameters in its layers, 605 MB") {
  const Graph graph = lowered_graph(model_named("bert-large.toml"), 128, "bf16");
  // Of a layer 12 h^2 + 13 h: four linears of h^2 + h, two of 4 h^2 and 4 h + h, two norms of 2 h. h = 1024.
  std::int64_t parameters = 0, bytes = 0;
  for (const Tensor& tensor : graph.tensors) {
    if (tensor.kind != TensorKind::parameter || !tensor.name.starts_with("layer")) continue;
    parameters += tensor.elements;
    bytes += tensor.bytes;
  }
  CHECK(parameters == 24 * (12 * 1024 * 1024 + 13 * 1024));
  CHECK(parameters == 302'309'376);
  CHECK(bytes == 604'618'752);
  // Beside them: 128 positions, the embedding's norm, the pooler.
  CHECK(graph.parameters() == parameters + 128 * 1024 + 2 * 1024 + 1024 * 1024 + 1024);
}

TEST_CASE("lowered: nothing but the residual stream goes along the graph") {
  const Graph graph = lowered_graph(model_named("bert-large.toml"), 128, "bf16");
  std::map<TensorId, std::vector<GraphNodeId>> readers;
  for (GraphNodeId node = 0; node < graph.nodes.size(); ++node)
    for (const TensorId tensor : graph.nodes[node].reads) readers[tensor].push_back(node);
  for (const auto& [tensor, nodes] : readers) {
    CAPTURE(graph.tensors[tensor].name);
    CHECK(nodes.back() - nodes.front() <= 88);
    if (graph.tensors[tensor].kind != TensorKind::made) CHECK(nodes.size() == 1);
  }
}

/// Without what the other graph lacks: the vocabulary head there, the pooler here.
std::int64_t layer_flops(const Graph& graph) {
  std::int64_t sum = 0;
  for (const GraphNode& node : graph.nodes)
    if (node.name.starts_with("layer")) sum += node.flops();
  return sum;
}

/// States in the place of attention, latent attention, sinks, and what else is refused.
bool is_beyond_primitives(const Model& model) {
  const LayerFields& kind = layer_kind(model, 0);
  return !has_attention(kind) || !without_vocabulary(model).empty() || is_latent(kind) || kind.attention_sinks ||
         kind.query_key_norm == QueryKeyNorm::unweighted;
}

TEST_CASE("lowered: every model has the FLOP and the weights of its layers") {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(models_folder)) {
    if (entry.path().extension() == ".md") continue;
    const std::string file = entry.path().filename().string();
    CAPTURE(file);
    Model model = model_named(file);
    model.layers = 4;
    ++files;
    if (has_vision(model)) CHECK_THROWS_AS(lowered_graph(model, 256, "bf16"), KeyError);
    model.vision = {};
    if (is_beyond_primitives(model)) {
      CHECK_THROWS_AS(lowered_graph(model, 256, "bf16"), KeyError);
      continue;
    }
    LayerShape shape;
    shape.sequence = 256;  // a multiple of what experts share
    shape.phase = Phase::prompt;
    shape.datatype = "bf16";
    const Graph whole = transformer_graph(model, shape), graph = lowered_graph(model, 256, "bf16");
    CHECK(check_graph(graph).empty());
    CHECK(layer_flops(graph) == layer_flops(whole));
    CHECK(graph.product_datatype() == "bf16");
    std::int64_t parameters = 0, expected = 0;
    for (const Tensor& tensor : graph.tensors)
      if (tensor.kind == TensorKind::parameter && tensor.name.starts_with("layer")) parameters += tensor.elements;
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
      shape.kind = kind_of(model, layer);
      expected += layer_parameters(model, shape).total();
    }
    CHECK(parameters == expected);
  }
  CHECK(files >= 15);
}

TEST_CASE("lowered: two sequences have the weights of one and twice its FLOP; FP32 needs no casts") {
  const Model model = model_named("bert-large.toml");
  const Graph one = lowered_graph(model, 128, "bf16"), two = lowered_graph(model, 128, "bf16", 2);
  CHECK(two.nodes.size() == one.nodes.size());
  CHECK(two.parameters() == one.parameters());
  CHECK(two.flops() == 2 * one.flops());
  // Two casts a norm, of which there are 49, and two a softmax.
  CHECK(lowered_graph(model, 128, "fp32").nodes.size() == one.nodes.size() - 2 * 49 - 2 * 24);
}

TEST_CASE("lowered: a sequence without positions is refused in one line") {
  const Model model = model_named("bert-large.toml");
  CHECK_THROWS_WITH(lowered_graph(model, 513, "bf16"), "513 tokens, BERT-large has positions for 512");
  CHECK_THROWS_AS(lowered_graph(model, 0, "bf16"), InputError);
  CHECK_THROWS_AS(lowered_graph(model, 128, "bf61"), InputError);
}

}  // namespace
}  // namespace tessera::workload
