#include "graph.hpp"

#include <algorithm>
#include <iterator>

#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {
namespace {

using workload::OperatorKind;
using workload::OperatorSet;

/// What of a section is not a product.
std::array<std::vector<workload::Operator>, 3> streams_of(const OperatorSet& set) {
  std::array<std::vector<workload::Operator>, 3> found;
  const std::vector<workload::Operator>* phases[] = {&set.forward, &set.input_gradient, &set.weight_gradient};
  for (std::size_t i = 0; i < found.size(); ++i) {
    std::copy_if(phases[i]->begin(), phases[i]->end(), std::back_inserter(found[i]),
                 [](const workload::Operator& op) { return op.kind != OperatorKind::gemm; });
  }
  return found;
}

class LayerGraph {
 public:
  LayerGraph(const workload::Model& model, const Workload& workload) : model_(model), workload_(workload) {
    workload::LayerShape shape;
    shape.sequence = workload.sequence;
    shape.micro_batch = workload.global_batch;
    shape.datatype = workload.datatype;
    shape.gradient_bytes = graph_.element = workload::bytes_per_element(workload.datatype);
    graph_.datatype = workload.datatype;
    layer_ = workload::transformer_layer(model, shape);
  }

  Graph layer() {
    const int norm = add_norm("attention_norm", layer_.attention_norm);
    const int context = add_attention(norm);
    const int projection = add_linear("projection", context_width(), model_.hidden, layer_.projection);
    connect_columns(context, projection);
    const int residual = add_streaming("attention_residual", hidden(), layer_.attention_residual, false);
    connect(projection, residual);
    const int mlp_norm = add_norm("mlp_norm", layer_.mlp_norm);
    connect(residual, mlp_norm);
    const auto [fc1, fc2] = add_mlp();
    connect(mlp_norm, fc1);
    const int out = add_streaming("mlp_residual", hidden(), layer_.mlp_residual, false);
    connect(fc2, out);
    connect(residual, out);
    connect(out, norm, true);
    connect(out, residual, true);
    return std::move(graph_);
  }

  Graph mlp() {
    add_mlp();
    return std::move(graph_);
  }

 private:
  [[nodiscard]] Operator& op(int node) { return graph_.nodes[static_cast<std::size_t>(node)].op; }
  [[nodiscard]] std::int64_t queries() const { return model_.heads / model_.kv_heads; }
  [[nodiscard]] std::int64_t context_width() const { return model_.heads * model_.head_dim; }
  /// Columns of a head of keys and values: its query heads, then its keys, then its values.
  [[nodiscard]] std::int64_t head_width() const { return (queries() + 2) * model_.head_dim; }
  [[nodiscard]] std::vector<Dimension> tokens() const {
    return {{"B", workload_.global_batch}, {"M", workload_.sequence}};
  }
  [[nodiscard]] std::vector<Dimension> hidden() const {
    std::vector<Dimension> dimensions = tokens();
    dimensions.push_back({"H", model_.hidden});
    return dimensions;
  }

  int add(Node node) {
    graph_.nodes.push_back(std::move(node));
    return static_cast<int>(graph_.nodes.size()) - 1;
  }

  int add_linear(const std::string& name, std::int64_t in, std::int64_t out, const OperatorSet& set) {
    return add({linear(name, workload_.global_batch, workload_.sequence, in, out), streams_of(set), true, 0, 1});
  }

  int add_streaming(const std::string& name, const std::vector<Dimension>& dimensions, const OperatorSet& set,
                    bool keeps_input) {
    return add({streaming(name, dimensions), streams_of(set), keeps_input, set.kept_inside, 0});
  }

  /// Each token's mean and variance are known once those with its other elements have said theirs.
  int add_norm(const std::string& name, const OperatorSet& set) {
    Node node{streaming(name, hidden(), {2}), streams_of(set), true, 0,
              model_.norm == workload::Norm::layernorm ? 2 : 1};
    node.op.statistics = {0, 1};
    return add(std::move(node));
  }

  /// The streaming operators of the core by the operator that they belong to: layouts to the products, the others to
  /// the softmax between them.
  [[nodiscard]] std::array<std::vector<workload::Operator>, 3> core_streams(const std::string& layout, int phase) {
    std::array<std::vector<workload::Operator>, 3> all = streams_of(layer_.attention_core), found;
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (const workload::Operator& one : all[i]) {
        const bool is_layout = one.kind == OperatorKind::copy;
        if (layout.empty() ? !is_layout : one.name == layout && static_cast<int>(i) == phase) found[i].push_back(one);
      }
    }
    return found;
  }

  int add_attention(int norm) {
    const std::int64_t columns = model_.kv_heads * head_width();
    const int qkv = add_linear("qkv", model_.hidden, columns, layer_.qkv);
    connect(norm, qkv);
    const Heads heads{workload_.global_batch, model_.kv_heads, queries()};
    const std::int64_t s = workload_.sequence, d = model_.head_dim;
    const int scores = add({matmul("scores", heads, s, d, s), core_streams("qkv gradient layout", 1), true, 0, 0});
    Node softmax{
        streaming("softmax",
                  {{"B", heads.batch}, {"H", heads.heads}, {"G", heads.queries, true}, {"M", s}, {"K", s, true}}),
        core_streams("", 0), false, 0, 0};
    // With dropout its output is kept beside what the dropout makes of it, and the mask.
    const std::int64_t probabilities = heads.batch * model_.heads * s * s;
    if (model_.dropout) softmax.kept = (graph_.element + 1) * probabilities;
    const int middle = add(std::move(softmax));
    const int context = add({matmul("context", heads, s, s, d), core_streams("context layout", 0), true, 0, 0});
    connect_heads(qkv, scores, context);
    connect(scores, middle);
    connect(middle, context);
    return context;
  }

  /// Queries, keys and values are columns of the projection, head by head.
  void connect_heads(int qkv, int scores, int context) {
    enum : int { b, h, g, m, n, k };
    const std::int64_t d = model_.head_dim, width = head_width();
    const TensorView made{{0, {{0, 1}}}, {0, {{1, 1}}}, {0, {{3, 1}}}};
    const TensorView q{{0, {{b, 1}}}, {0, {{m, 1}}}, {0, {{h, width}, {g, d}, {n, 1}}}};
    const TensorView keys{{0, {{b, 1}}}, {0, {{k, 1}}}, {queries() * d, {{h, width}, {n, 1}}}};
    const TensorView values{{0, {{b, 1}}}, {0, {{n, 1}}}, {(queries() + 1) * d, {{h, width}, {k, 1}}}};
    graph_.edges.push_back({qkv, scores, {made, q, Tensor::input}});
    graph_.edges.push_back({qkv, scores, {made, keys, Tensor::weight}});
    graph_.edges.push_back({qkv, context, {made, values, Tensor::weight}});
  }

  /// The heads of the context are the columns that the projection adds up.
  void connect_columns(int context, int projection) {
    enum : int { b, h, g, m, n, k };
    const std::int64_t d = model_.head_dim;
    const TensorView made{{0, {{b, 1}}}, {0, {{m, 1}}}, {0, {{h, queries() * d}, {g, d}, {k, 1}}}};
    const TensorView read{{0, {{0, 1}}}, {0, {{1, 1}}}, {0, {{2, 1}}}};
    graph_.edges.push_back({context, projection, {made, read, Tensor::input}});
  }

  /// A gated MLP's first linear makes two columns for each of the activation.
  std::pair<int, int> add_mlp() {
    const std::int64_t gates = model_.gated_mlp ? 2 : 1;
    const int fc1 = add_linear("fc1", model_.hidden, gates * model_.ffn_hidden, layer_.fc1);
    std::vector<Dimension> dimensions = tokens();
    dimensions.push_back({"F", model_.ffn_hidden});
    dimensions.push_back({"gates", gates, true});
    const int activation = add_streaming("activation", dimensions, layer_.activation, true);
    op(activation).tensors[2] = {0, 1, 2};
    const TensorView made{{0, {{0, 1}}}, {0, {{1, 1}}}, {0, {{3, 1}}}};
    const TensorView read{{0, {{0, 1}}}, {0, {{1, 1}}}, {0, {{2, gates}, {3, 1}}}};
    graph_.edges.push_back({fc1, activation, {made, read, Tensor::input}});
    const int fc2 = add_linear("fc2", model_.ffn_hidden, model_.hidden, layer_.fc2);
    connect(activation, fc2);
    return {fc1, fc2};
  }

  void connect(int from, int to, bool to_next_layer = false) {
    graph_.edges.push_back({from, to, plain(op(from), op(to)), to_next_layer});
  }

  const workload::Model& model_;
  const Workload& workload_;
  workload::LayerOperators layer_;
  Graph graph_;
};

}  // namespace

std::vector<const Edge*> Graph::edges_from_before() const {
  std::vector<const Edge*> found;
  for (const Edge& edge : edges) {
    if (edge.to_next_layer) found.push_back(&edge);
  }
  return found;
}

bool Graph::reads_input(std::size_t node) const {
  const std::vector<const Edge*> before = edges_from_before();
  if (before.empty()) return node == 0;
  return std::any_of(before.begin(), before.end(),
                     [&](const Edge* edge) { return edge->to == static_cast<int>(node); });
}

Graph make_graph(const std::string& name, const workload::Model& model, const Workload& workload) {
  LayerGraph graph(model, workload);
  return name == "mlp" ? graph.mlp() : graph.layer();
}

const std::vector<std::string>& graph_names() {
  static const std::vector<std::string> names{"layer", "mlp"};
  return names;
}

}  // namespace tessera::strategy::primepar
