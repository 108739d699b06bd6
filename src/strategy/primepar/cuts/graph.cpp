#include "graph.hpp"

#include <algorithm>
#include <iterator>
#include <map>

#include "tessera/workload/graph.hpp"

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

/// The nodes of a layer's graph (workload/graph.hpp), each with the dimensions by which it can be cut, and how the
/// elements of a tensor are called on both of its ends.
class LayerGraph {
 public:
  LayerGraph(const workload::Model& model, const Workload& workload) : model_(model), workload_(workload) {
    workload::LayerShape shape;
    shape.sequence = workload.sequence;
    shape.micro_batch = workload.global_batch;
    shape.datatype = workload.datatype;
    shape.gradient_bytes = graph_.element = workload::bytes_per_element(workload.datatype);
    graph_.datatype = workload.datatype;
    source_ = workload::layer_graph(model, shape);
  }

  /// Of these nodes; all without any.
  Graph make(const std::vector<std::string>& names) {
    std::map<workload::GraphNodeId, int> taken;
    for (workload::GraphNodeId id = 0; id < source_.nodes.size(); ++id) {
      const workload::GraphNode& node = source_.nodes[id];
      if (!names.empty() && std::ranges::find(names, node.name) == names.end()) continue;
      taken[id] = static_cast<int>(graph_.nodes.size());
      graph_.nodes.push_back(node_of(node));
    }
    for (const workload::GraphEdge& edge : source_.edges()) {
      if (taken.count(edge.from) != 0 && taken.count(edge.to) != 0)
        connect(taken[edge.from], taken[edge.to], source_.tensors[edge.tensor].name);
    }
    if (names.empty()) connect_layers();
    return std::move(graph_);
  }

 private:
  [[nodiscard]] const Operator& op(int node) const { return graph_.nodes[static_cast<std::size_t>(node)].op; }
  [[nodiscard]] std::int64_t queries() const { return model_.heads / model_.kv_heads; }
  /// Columns of a head of keys and values: its query heads, then its keys, then its values.
  [[nodiscard]] std::int64_t head_width() const { return (queries() + 2) * model_.head_dim; }
  [[nodiscard]] std::int64_t gates() const { return model_.gated_mlp ? 2 : 1; }
  [[nodiscard]] Dimension batch() const { return {"B", workload_.global_batch}; }
  [[nodiscard]] Dimension tokens() const { return {"M", workload_.sequence}; }

  [[nodiscard]] Node node_of(const workload::GraphNode& node) const {
    const std::string& name = node.name;
    const std::int64_t context = model_.heads * model_.head_dim;
    if (name == "qkv") return linear_node(node, model_.hidden, model_.kv_heads * head_width());
    if (name == "projection") return linear_node(node, context, model_.hidden);
    if (name == "fc1") return linear_node(node, model_.hidden, gates() * model_.ffn_hidden);
    if (name == "fc2") return linear_node(node, model_.ffn_hidden, model_.hidden);
    if (name == "attention_norm" || name == "mlp_norm") return norm_node(node);
    if (name == "activation") return activation_node(node);
    if (name == "softmax") return softmax_node(node);
    if (name == "scores" || name == "context") return product_node(node);
    return {streaming(name, {batch(), tokens(), {"H", model_.hidden}}), streams_of(node.work), false,
            node.work.kept_inside, 0};
  }

  [[nodiscard]] Node linear_node(const workload::GraphNode& node, std::int64_t in, std::int64_t out) const {
    return {linear(node.name, workload_.global_batch, workload_.sequence, in, out), streams_of(node.work), true, 0, 1};
  }

  /// Each token's mean and variance are known once those with its other elements have said theirs.
  [[nodiscard]] Node norm_node(const workload::GraphNode& node) const {
    Node made{streaming(node.name, {batch(), tokens(), {"H", model_.hidden}}, {2}), streams_of(node.work), true, 0,
              workload::norm_vectors(model_)};
    made.op.statistics = {0, 1};
    return made;
  }

  /// Products of every head.
  [[nodiscard]] Node product_node(const workload::GraphNode& node) const {
    const Heads heads{workload_.global_batch, model_.kv_heads, queries()};
    const std::int64_t s = workload_.sequence, d = model_.head_dim;
    const bool is_scores = node.name == "scores";
    return {matmul(node.name, heads, s, is_scores ? d : s, is_scores ? s : d), streams_of(node.work), true, 0, 0};
  }

  /// With dropout its output is kept beside what the dropout makes of it, and the mask.
  [[nodiscard]] Node softmax_node(const workload::GraphNode& node) const {
    const Dimension keys{"K", workload_.sequence, true}, groups{"G", queries(), true};
    const std::int64_t output = source_.tensors[node.writes.front()].bytes;
    return {streaming(node.name, {batch(), {"H", model_.kv_heads}, groups, tokens(), keys}), streams_of(node.work),
            false, node.work.kept_inside - output, 0};
  }

  /// A gated MLP's first linear makes two columns for each of the activation.
  [[nodiscard]] Node activation_node(const workload::GraphNode& node) const {
    Node made{streaming(node.name, {batch(), tokens(), {"F", model_.ffn_hidden}, {"gates", gates(), true}}),
              streams_of(node.work), true, node.work.kept_inside, 0};
    made.op.tensors[2] = {0, 1, 2};
    return made;
  }

  void connect(int from, int to, const std::string& tensor) {
    graph_.edges.push_back({from, to, shared(from, to, tensor)});
  }

  [[nodiscard]] Shared shared(int from, int to, const std::string& tensor) const {
    enum : int { b, h, g, m, n, k };
    const std::int64_t d = model_.head_dim, width = head_width();
    const TensorView made{{0, {{0, 1}}}, {0, {{1, 1}}}, {0, {{3, 1}}}};
    const TensorView read{{0, {{0, 1}}}, {0, {{1, 1}}}, {0, {{2, 1}}}};
    // Queries, keys and values are columns of the projection, head by head.
    if (tensor == "queries")
      return {made, {{0, {{b, 1}}}, {0, {{m, 1}}}, {0, {{h, width}, {g, d}, {n, 1}}}}, Tensor::input};
    if (tensor == "keys")
      return {made, {{0, {{b, 1}}}, {0, {{k, 1}}}, {queries() * d, {{h, width}, {n, 1}}}}, Tensor::weight};
    if (tensor == "values")
      return {made, {{0, {{b, 1}}}, {0, {{n, 1}}}, {(queries() + 1) * d, {{h, width}, {k, 1}}}}, Tensor::weight};
    // The heads of the context are the columns that the projection adds up.
    if (tensor == "context")
      return {{{0, {{b, 1}}}, {0, {{m, 1}}}, {0, {{h, queries() * d}, {g, d}, {k, 1}}}}, read, Tensor::input};
    if (tensor == "fc1") return {made, {{0, {{0, 1}}}, {0, {{1, 1}}}, {0, {{2, gates()}, {3, 1}}}}, Tensor::input};
    return plain(op(from), op(to));
  }

  /// What the last node makes is the next layer's input.
  void connect_layers() {
    const int last = static_cast<int>(graph_.nodes.size()) - 1;
    for (std::size_t i = 0; i < source_.nodes.size(); ++i) {
      for (const workload::TensorId id : source_.nodes[i].reads) {
        if (source_.tensors[id].kind != workload::TensorKind::input) continue;
        const int node = static_cast<int>(i);
        graph_.edges.push_back({last, node, plain(op(last), op(node)), true});
      }
    }
  }

  const workload::Model& model_;
  const Workload& workload_;
  workload::Graph source_;
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
  return graph.make(name == "mlp" ? std::vector<std::string>{"fc1", "activation", "fc2"} : std::vector<std::string>{});
}

const std::vector<std::string>& graph_names() {
  static const std::vector<std::string> names{"layer", "mlp"};
  return names;
}

}  // namespace tessera::strategy::primepar
