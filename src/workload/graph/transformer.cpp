// The graphs of a transformer: what its operators say of work, and which reads what.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "../layer/mixer.hpp"
#include "tessera/base/error.hpp"
#include "tessera/workload/graph.hpp"

namespace tessera::workload {
namespace {

using layer::Context;

/// Puts nodes behind each other, each with the tensors that it makes.
class Builder {
 public:
  Builder(const Context& context, Graph& graph) : context_(context), graph_(graph) {}

  [[nodiscard]] TensorId tensor(const std::string& name, TensorKind kind, std::int64_t elements) {
    graph_.tensors.push_back({name, kind, elements, context_.element * elements});
    return static_cast<TensorId>(graph_.tensors.size() - 1);
  }
  /// Weights of the node that comes next; none: nothing.
  Builder& parameters(std::int64_t elements) {
    weights_ = elements;
    return *this;
  }
  /// A node that makes one tensor of its own name.
  TensorId node(const std::string& name, const OperatorSet& work, std::vector<TensorId> reads, std::int64_t elements) {
    return nodes(name, work, std::move(reads), {{name, elements}}).front();
  }
  /// One that makes several.
  std::vector<TensorId> nodes(const std::string& name, const OperatorSet& work, std::vector<TensorId> reads,
                              const std::vector<std::pair<std::string, std::int64_t>>& made) {
    if (weights_ > 0) reads.push_back(tensor(prefix_ + name + " weights", TensorKind::parameter, weights_));
    weights_ = 0;
    GraphNode one{prefix_ + name, work, std::move(reads), {}};
    for (const auto& [what, elements] : made) one.writes.push_back(tensor(prefix_ + what, TensorKind::made, elements));
    graph_.nodes.push_back(one);
    return one.writes;
  }
  void set_prefix(const std::string& prefix) { prefix_ = prefix; }

 private:
  const Context& context_;
  Graph& graph_;
  std::string prefix_;
  std::int64_t weights_ = 0;
};

/// Operators of a set that pass the test, by phase.
template <class Test>
OperatorSet part_of(const OperatorSet& set, const Test& belongs) {
  OperatorSet part;
  const auto copy = [&](const std::vector<Operator>& from, std::vector<Operator>& to) {
    std::ranges::copy_if(from, std::back_inserter(to), belongs);
  };
  copy(set.forward, part.forward);
  copy(set.input_gradient, part.input_gradient);
  copy(set.weight_gradient, part.weight_gradient);
  return part;
}

/// Whose part of the attention core an operator is, by its name: products of scores, of context, and the rest. The
/// gradients' layout ends the backward pass of the scores.
std::string part_of_core(const Operator& op) {
  for (const char* name : {"scores", "context"})
    if (op.name.starts_with(name)) return name;
  if (op.name == "qkv gradient layout" || op.name == "kv cache") return "scores";
  if (op.name == "value expansion") return "context";
  return "softmax";
}

class LayerGraph {
 public:
  LayerGraph(const Model& model, const Context& context, Builder& builder)
      : model_(model), context_(context), builder_(builder), layer_(transformer_layer(model, context.shape)) {}

  TensorId add(TensorId input) {
    const TensorId norm =
        is_latent(context_.layer) ? add_compression(input) : add_norm("attention_norm", layer_.attention_norm, input);
    const TensorId projection = add_attention(norm);
    const bool has_bias = has_attention(context_.layer) && has_projection_bias(model_);
    const std::int64_t biases = has_bias ? model_.hidden : 0;
    if (is_parallel(context_.layer)) {
      const TensorId read = layer_.mlp_norm.empty() ? norm : add_norm("mlp_norm", layer_.mlp_norm, input);
      return add_residual("mlp_residual", layer_.mlp_residual, {add_mlp(read, {projection}), input},
                          output_biases() + biases);
    }
    const TensorId residual =
        add_residual("attention_residual", layer_.attention_residual, {projection, input}, biases + output_norm());
    if (!context_.layer.mlp) return residual;
    const TensorId mlp_norm = add_norm("mlp_norm", layer_.mlp_norm, residual);
    const TensorId out = is_moe(context_.layer) ? add_experts(mlp_norm) : add_mlp(mlp_norm);
    return add_residual("mlp_residual", layer_.mlp_residual, {out, residual}, output_biases() + output_norm());
  }

 private:
  [[nodiscard]] std::int64_t hidden() const { return context_.tokens * model_.hidden; }
  [[nodiscard]] std::int64_t gates() const { return context_.layer.gated_mlp ? 2 : 1; }
  [[nodiscard]] std::int64_t norm_weights(std::int64_t width) const { return norm_vectors(model_) * width; }

  /// Weights of a norm behind attention or MLP, which is part of the residual's node.
  [[nodiscard]] std::int64_t output_norm() const {
    return context_.layer.sublayer_norms == SublayerNorms::input ? 0 : norm_vectors(model_) * model_.hidden;
  }

  TensorId add_norm(const std::string& name, const OperatorSet& set, TensorId input) {
    if (set.empty()) return input;
    return builder_.parameters(norm_weights(model_.hidden))
        .node(name, set, {input}, context_.tokens_cut * model_.hidden);
  }

  /// The norm, and what latent attention makes of it for all heads.
  TensorId add_compression(TensorId input) {
    const LayerFields& kind = context_.layer;
    const std::int64_t made = kind.query_rank + kind.kv_rank + kind.rotary_dim;
    const std::int64_t whole = kind.query_rank > 0 ? made : made + model_.hidden;
    return builder_.parameters(model_.hidden * made + norm_weights(model_.hidden + kind.query_rank + kind.kv_rank))
        .node("attention_norm", layer_.attention_norm, {input}, context_.tokens_cut * whole);
  }
  /// Of what makes queries, keys and values of its input.
  [[nodiscard]] std::int64_t qkv_weights() const {
    const LayerFields& kind = context_.layer;
    const std::int64_t columns = layer::attention_columns(context_);
    if (!is_latent(kind)) return model_.hidden * columns + (model_.qkv_bias ? columns : 0);
    const std::int64_t expanded = kind.head_dim - kind.rotary_dim + value_dim(kind);
    return (kind.query_rank > 0 ? kind.query_rank : model_.hidden) * context_.query_width +
           kind.kv_rank * context_.shape.heads_per_rank * expanded;
  }

  /// With the biases of the linear layers before it.
  TensorId add_residual(const std::string& name, const OperatorSet& set, std::vector<TensorId> reads,
                        std::int64_t biases) {
    return builder_.parameters(biases).node(name, set, std::move(reads), context_.tokens_cut * model_.hidden);
  }

  /// Another mixer: what it makes of its input, its state and gated norm, and its output.
  TensorId add_mixer(TensorId norm) {
    ParameterShare all;
    const layer::MixerKind& mixer = layer::mixer_kind(context_.layer.mixer);
    mixer.add_parameters(context_, all);
    const std::int64_t out = context_.output_width * model_.hidden, in = mixer.input_columns(context_);
    const TensorId made =
        builder_.parameters(model_.hidden * in).node("in_projection", layer_.qkv, {norm}, context_.tokens * in);
    const TensorId core = builder_.parameters(all.total() - model_.hidden * in - out)
                              .node("state", layer_.attention_core, {made}, context_.tokens * context_.output_width);
    return builder_.parameters(out).node("projection", layer_.projection, {core}, hidden());
  }

  TensorId add_attention(TensorId norm) {
    if (!has_attention(context_.layer)) return add_mixer(norm);
    const std::int64_t tokens = context_.tokens;
    const std::vector<TensorId> qkv = builder_.parameters(qkv_weights() + query_key_norms())
                                          .nodes("qkv", layer_.qkv, {norm},
                                                 {{"queries", tokens * context_.query_width},
                                                  {"keys", tokens * context_.key_width},
                                                  {"values", tokens * context_.value_width}});
    builder_.parameters(context_.layer.attention_sinks ? context_.shape.heads_per_rank : 0);
    const TensorId context = context_.shape.flash_attention ? builder_.node("attention", layer_.attention_core, qkv,
                                                                            tokens * context_.output_width)
                                                            : add_core(qkv[0], qkv[1], qkv[2]);
    return builder_.parameters(context_.output_width * model_.hidden)
        .node("projection", layer_.projection, {context}, hidden());
  }

  [[nodiscard]] std::int64_t query_key_norms() const {
    const QueryKeyNorm norms = context_.layer.query_key_norm;
    if (norms == QueryKeyNorm::none || norms == QueryKeyNorm::unweighted) return 0;
    const bool is_shared = norms == QueryKeyNorm::shared;
    return norm_vectors(model_) * (is_shared ? 2 * context_.layer.head_dim : context_.query_width + context_.key_width);
  }

  TensorId add_core(TensorId queries, TensorId keys, TensorId values) {
    const std::int64_t matrix =
        context_.shape.micro_batch * context_.shape.heads_per_rank * context_.shape.sequence * context_.shape.context;
    const auto part = [this](const std::string& name) {
      return part_of(layer_.attention_core, [&](const Operator& op) { return part_of_core(op) == name; });
    };
    OperatorSet softmax = part("softmax");
    softmax.kept_inside = layer_.attention_core.kept_inside;
    const TensorId scores = builder_.node("scores", part("scores"), {queries, keys}, matrix);
    const TensorId probabilities = builder_.node("softmax", softmax, {scores}, matrix);
    return builder_.node("context", part("context"), {probabilities, values}, context_.tokens * context_.output_width);
  }

  /// `beside`: what is added to its result.
  TensorId add_mlp(TensorId input, std::vector<TensorId> beside = {}) {
    const std::int64_t width = context_.tokens * context_.mlp_width, columns = gates() * context_.mlp_width;
    const TensorId fc1 = builder_.parameters(model_.hidden * columns).node("fc1", layer_.fc1, {input}, gates() * width);
    const TensorId activation =
        builder_.parameters(model_.bias ? columns : 0).node("activation", layer_.activation, {fc1}, width);
    beside.insert(beside.begin(), activation);
    return builder_.parameters(context_.mlp_width * model_.hidden).node("fc2", layer_.fc2, std::move(beside), hidden());
  }

  /// Routed and shared experts are one node each way, as their operators are.
  TensorId add_experts(TensorId input) {
    const std::int64_t tokens = context_.shape.expert_tokens;
    const std::int64_t shared = context_.shared_width;
    const std::int64_t width = context_.local_experts * context_.expert_width + shared;  // of all of them
    const std::int64_t logits = context_.layer.experts + (context_.layer.shared_gate ? 1 : 0);
    const std::int64_t biases = context_.layer.router_bias ? context_.layer.experts : 0;
    const TensorId chosen = builder_.parameters(model_.hidden * logits + biases)
                                .node("router", layer_.router, {input}, context_.tokens_cut * context_.layer.experts);
    const TensorId copies = builder_.node("dispatch", layer_.dispatch, {input, chosen}, tokens * model_.hidden);
    std::vector<TensorId> reads{copies};
    if (shared > 0) reads.push_back(input);
    const std::int64_t inside = tokens * context_.expert_width + context_.tokens * shared;
    const TensorId fc1 =
        builder_.parameters(gates() * width * model_.hidden).node("fc1", layer_.fc1, reads, gates() * inside);
    const TensorId activation =
        builder_.parameters(model_.bias ? gates() * width : 0).node("activation", layer_.activation, {fc1}, inside);
    const std::int64_t answers = tokens + (shared > 0 ? context_.tokens : 0);
    const TensorId fc2 =
        builder_.parameters(width * model_.hidden).node("fc2", layer_.fc2, {activation}, answers * model_.hidden);
    return builder_.node("combine", layer_.combine, {fc2, chosen}, hidden());
  }
  /// Of the last linear: experts have one each.
  [[nodiscard]] std::int64_t output_biases() const {
    if (!model_.bias) return 0;
    if (!is_moe(context_.layer)) return model_.hidden;
    return (context_.local_experts + (context_.layer.shared_experts > 0 ? 1 : 0)) * model_.hidden;
  }

  const Model& model_;
  const Context& context_;
  Builder& builder_;
  LayerOperators layer_;
};

/// What stands before the first layer.
TensorId add_embedding(const Model& model, const Context& context, Builder& builder, TensorId tokens, TensorId words) {
  const EmbeddingOperators work = embedding_operators(model, context.shape);
  const std::int64_t elements = context.tokens * model.hidden;
  const TensorId looked_up = builder.node("embedding", work.lookup, {tokens, words}, elements);
  const std::int64_t all = embedding_parameters(model, context.shape).total();
  const std::int64_t table = padded_vocabulary(model, 1) * model.hidden;
  return builder.parameters(all - table).node("embedding_sum", work.combine, {looked_up}, elements);
}

/// What stands behind the last one; without the loss.
void add_head(const Model& model, const Context& context, Builder& builder, TensorId input, TensorId words) {
  const HeadOperators work = head_operators(model, context.shape);
  const bool all = context.shape.phase == Phase::training;
  const std::int64_t tokens = all ? context.tokens : context.shape.micro_batch;
  TensorId at = input;
  if (!work.norm.empty()) {
    const std::int64_t weights = head_parameters(model, context.shape, false).replicated;
    at = builder.parameters(weights).node("final_norm", work.norm, {at}, tokens * model.hidden);
  }
  if (model.masked_lm_head) builder.parameters(model.vocabulary);
  static_cast<void>(builder.node("logits", work.logits, {at, words}, tokens * model.vocabulary));
}

}  // namespace

Graph layer_graph(const Model& model, const LayerShape& shape) {
  const Context context(model, shape);
  Graph graph;
  graph.name = "a layer of " + model.name;
  Builder builder(context, graph);
  const TensorId input = builder.tensor("input", TensorKind::input, context.tokens_cut * model.hidden);
  static_cast<void>(LayerGraph(model, context, builder).add(input));
  return graph;
}

Graph transformer_graph(const Model& model, const LayerShape& shape) {
  if (shape.tensor != 1) throw InternalError("the graph of a whole transformer is of the model uncut");
  if (has_vision(model))
    throw KeyError("model", fmt::format("{} has a vision tower, which is not in its graph, allowed: "
                                        "model.vision.images = 0, which leaves it out",
                                        model.name));
  if (const std::string ends = without_vocabulary(model); !ends.empty())
    throw KeyError("model", fmt::format("{} has {}, which is not in its graph", model.name, ends));
  if (model.prediction_depth > 0 && shape.phase == Phase::training)
    throw KeyError("model",
                   fmt::format("{} has modules that predict further ahead (prediction_depth), which are not in "
                               "its graph, allowed: prediction_depth = 0",
                               model.name));
  std::vector<Context> kinds;
  for (std::uint32_t kind = 0; kind < layer_kinds(model); ++kind) {
    LayerShape of_kind = shape;
    of_kind.kind = kind;
    kinds.emplace_back(model, of_kind);
  }
  const Context& first = kinds.front();
  Graph graph;
  graph.name = model.name;
  Builder builder(first, graph);
  const TensorId tokens = builder.tensor("tokens", TensorKind::input, first.tokens);
  const TensorId words = builder.tensor("words", TensorKind::parameter, model.vocabulary * model.hidden);
  TensorId at = add_embedding(model, first, builder, tokens, words);
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    builder.set_prefix(fmt::format("layer{}.", layer));
    at = LayerGraph(model, kinds[kind_of(model, layer)], builder).add(at);
  }
  builder.set_prefix("");
  const TensorId out = model.tied_embeddings
                           ? words
                           : builder.tensor("output words", TensorKind::parameter, model.vocabulary * model.hidden);
  add_head(model, first, builder, at, out);
  return graph;
}

}  // namespace tessera::workload
