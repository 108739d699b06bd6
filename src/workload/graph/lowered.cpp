// A transformer as a compiler's primitive operators. Norms, softmax and their sums are in FP32, as mixed precision has
// it; masks, position tables of angles, and what is looked up by numbers of words come from the host.
#include <fmt/format.h>

#include "../layer/context.hpp"
#include "primitives.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload {
namespace {

using layer::Context;

class LoweredLayers {
 public:
  LoweredLayers(const Model& model, const Context& context, Primitives& to)
      : model_(model),
        to_(to),
        sequence_(context.shape.sequence),
        batch_(context.shape.micro_batch),
        tokens_(context.tokens) {
    begin(0);
  }

  /// What comes next is of that kind.
  void begin(std::uint32_t kind) {
    kind_ = &layer_kind(model_, kind);
    queries_ = kind_->heads * kind_->head_dim;
    keys_ = kind_->kv_heads * kind_->head_dim;
  }

  /// What stands before the first layer.
  TensorId embed() {
    TensorId at = to_.input("words", tokens_ * model_.hidden);
    if (model_.position == PositionEmbedding::learned)
      at = to_.elementwise("positions_sum", {at, to_.parameter("positions", sequence_ * model_.hidden)});
    if (model_.token_types > 0)
      at = to_.elementwise("token_types_sum", {at, to_.input("token_types", tokens_ * model_.hidden)});
    if (model_.embedding_norm) at = norm("embedding_norm", at);
    return model_.embedding_scaling ? to_.elementwise("embedding_scale", {at}) : at;
  }

  /// Norms stand before attention and MLP; where the embedding has one and the end has none, behind their sums.
  TensorId layer(TensorId input) {
    if (is_parallel(*kind_)) return parallel_layer(input);
    const bool behind = model_.embedding_norm && !model_.final_norm;
    const bool before = !behind && kind_->sublayer_norms != SublayerNorms::output;
    const TensorId normed = before ? norm("attention_norm", input) : input;
    const TensorId attended = output("attention_output_norm", attention(normed));
    TensorId sum = to_.elementwise("attention_residual", {attended, input});
    if (behind) sum = norm("attention_norm", sum);
    const TensorId mlp_input = before ? norm("mlp_norm", sum) : sum;
    const TensorId out = is_moe(*kind_) ? expert_mlp(mlp_input) : mlp("mlp.", mlp_input, tokens_);
    const TensorId end = to_.elementwise("mlp_residual", {output("mlp_output_norm", out), sum});
    return behind ? norm("mlp_norm", end) : end;
  }

  /// What stands behind the last one: BERT's pooler, or a norm.
  void finish(TensorId at) {
    if (model_.final_norm) at = norm("final_norm", at);
    if (!model_.masked_lm_head) return;
    const TensorId first = to_.part(OperatorKind::copy, "pooler.slice", {at}, batch_ * model_.hidden);
    const TensorId rows = to_.view("pooler.reshape", first);
    static_cast<void>(
        to_.elementwise("pooler.tanh", {linear("pooler", rows, {batch_, model_.hidden, model_.hidden}, true)}));
  }

 private:
  struct Sides {
    std::int64_t rows, in, out;
  };

  /// Attention and MLP of the same input.
  TensorId parallel_layer(TensorId input) {
    const TensorId normed = norm("attention_norm", input);
    const TensorId attended = attention(normed);
    const TensorId read = kind_->parallel_block == ParallelBlock::two_norms ? norm("mlp_norm", input) : normed;
    const TensorId sum = to_.elementwise("parallel_sum", {mlp("mlp.", read, tokens_), attended});
    return to_.elementwise("mlp_residual", {sum, input});
  }

  TensorId output(const std::string& name, TensorId made) {
    return kind_->sublayer_norms == SublayerNorms::input ? made : norm(name, made);
  }

  /// A product; with a bias three nodes.
  TensorId linear(const std::string& name, TensorId input, const Sides& sides, bool bias) {
    const TensorId weights = to_.parameter(name + ".weights", sides.in * sides.out);
    const TensorId made =
        to_.product(name + ".product", {input, weights}, {1, sides.rows, sides.out, sides.in}, sides.rows * sides.out);
    if (!bias) return made;
    const TensorId row = to_.parameter(name + ".bias", sides.out);
    return to_.elementwise(name + ".sum", {made, to_.broadcast(name + ".broadcast", row, made)});
  }

  /// The mean of each of `rows` rows of `read`: the sum, divided.
  TensorId mean(const std::string& name, TensorId read, std::int64_t rows) {
    return to_.elementwise(name + "_quotient", {to_.reduce(name + "_sum", read, rows)});
  }

  TensorId norm(const std::string& name, TensorId input) { return norm(name, input, tokens_, model_.hidden); }
  /// Of each head, or of all together.
  TensorId head_norm(const std::string& name, TensorId at, std::int64_t columns) {
    if (kind_->query_key_norm == QueryKeyNorm::none) return at;
    const bool is_shared = kind_->query_key_norm == QueryKeyNorm::shared;
    const bool is_whole = kind_->query_key_norm == QueryKeyNorm::whole_width;
    return norm(name + ".norm", at, is_whole ? tokens_ : tokens_ * columns / kind_->head_dim,
                is_shared ? kind_->head_dim : columns);
  }
  TensorId norm(const std::string& name, TensorId input, std::int64_t rows, std::int64_t width) {
    TensorId at = to_.widen(name + ".widen", input);
    if (model_.norm == Norm::layernorm)
      at = to_.elementwise(name + ".center",
                           {at, to_.broadcast(name + ".mean_broadcast", mean(name + ".mean", at, rows), at)});
    const TensorId square = to_.elementwise(name + ".square", {at, at});
    const TensorId variance = to_.elementwise(name + ".epsilon", {mean(name + ".variance", square, rows)});
    const TensorId factor = to_.elementwise(name + ".root", {variance});
    at = to_.elementwise(name + ".normalize", {at, to_.broadcast(name + ".root_broadcast", factor, at)});
    const TensorId weights = to_.parameter(name + ".weights", width);
    at = to_.elementwise(name + ".scale", {at, to_.broadcast(name + ".weights_broadcast", weights, at)});
    if (norm_vectors(model_) > 1) {
      const TensorId bias = to_.parameter(name + ".bias", width);
      at = to_.elementwise(name + ".shift", {at, to_.broadcast(name + ".bias_broadcast", bias, at)});
    }
    return to_.narrow(name + ".narrow", at);
  }

  /// Columns of a linear by heads.
  TensorId heads(const std::string& name, TensorId input, std::int64_t columns) {
    const TensorId made = linear(name, input, {tokens_, model_.hidden, columns}, model_.qkv_bias);
    const TensorId shaped = to_.view(name + ".reshape", made);
    return to_.stream(OperatorKind::copy, name + ".transpose", {shaped}, tokens_ * columns);
  }

  /// Angles by position are a table of the host's.
  TensorId rotary(const std::string& name, TensorId at) {
    if (model_.position != PositionEmbedding::rotary || kind_->rotary_fraction == 0) return at;
    if (kind_->rotary_fraction == 1) return turned(name, at, kind_->head_dim);
    const auto dimensions = static_cast<std::int64_t>(kind_->rotary_fraction * static_cast<double>(kind_->head_dim));
    const std::int64_t elements = to_.elements(at) / kind_->head_dim * dimensions;
    const TensorId part = to_.part(OperatorKind::copy, name + ".rotary_slice", {at}, elements);
    return to_.stream(OperatorKind::copy, name + ".rotary_join", {turned(name, part, dimensions), at},
                      to_.elements(at));
  }

  /// All of it, in heads of so many elements.
  TensorId turned(const std::string& name, TensorId at, std::int64_t dimensions) {
    const std::int64_t table = sequence_ * dimensions;
    const TensorId half =
        to_.part(OperatorKind::elementwise, name + ".rotary_negate", {at}, ceil_div(to_.elements(at), 2));
    const TensorId swapped = to_.stream(OperatorKind::copy, name + ".rotary_concat", {at, half}, to_.elements(at));
    const TensorId cosine = to_.elementwise(name + ".rotary_cosine", {at, to_.input(name + ".cosines", table)});
    const TensorId sine = to_.elementwise(name + ".rotary_sine", {swapped, to_.input(name + ".sines", table)});
    return to_.elementwise(name + ".rotary_sum", {cosine, sine});
  }

  /// The host gives each layer a mask of ones and zeros: what is zero is to be far below anything else.
  TensorId masked(TensorId scores) {
    const std::int64_t elements = model_.causal ? tokens_ * sequence_ : tokens_;
    TensorId at = to_.elementwise("mask.convert", {to_.input("mask", elements)});
    at = to_.elementwise("mask.invert", {at});
    at = to_.elementwise("mask.scale", {at});
    return to_.elementwise("mask.sum", {scores, to_.broadcast("mask.broadcast", at, scores)});
  }

  TensorId softmax(TensorId scores) {
    const std::int64_t rows = tokens_ * kind_->heads;
    TensorId at = to_.widen("softmax.widen", scores);
    const TensorId most = to_.reduce("softmax.maximum", at, rows);
    at = to_.elementwise("softmax.difference", {at, to_.broadcast("softmax.maximum_broadcast", most, at)});
    at = to_.elementwise("softmax.exponential", {at});
    const TensorId sum = to_.reduce("softmax.sum", at, rows);
    at = to_.elementwise("softmax.quotient", {at, to_.broadcast("softmax.sum_broadcast", sum, at)});
    return to_.narrow("softmax.narrow", at);
  }

  /// Queries that share a head of keys and values are rows of one product.
  TensorId attention(TensorId input) {
    const TensorId q = rotary("query", head_norm("query", heads("query", input, queries_), queries_));
    const TensorId k = rotary("key", head_norm("key", heads("key", input, keys_), keys_));
    const TensorId v = heads("value", input, keys_);
    const std::int64_t products = batch_ * kind_->kv_heads;
    const std::int64_t rows = kind_->heads / kind_->kv_heads * sequence_;
    TensorId at = to_.product("scores.product", {q, k}, {products, rows, sequence_, kind_->head_dim},
                              products * rows * sequence_);
    at = to_.elementwise("scores.scale", {at});
    if (kind_->attention_softcap > 0)  // the scale divides by the cap as well
      at = to_.elementwise("softcap.scale", {to_.elementwise("softcap.tanh", {at})});
    if (model_.position == PositionEmbedding::alibi)
      at = to_.elementwise("alibi.sum", {at, to_.input("alibi", kind_->heads * sequence_)});
    at = softmax(masked(at));
    at = to_.product("context.product", {at, v}, {products, rows, kind_->head_dim, sequence_}, tokens_ * queries_);
    at = to_.stream(OperatorKind::copy, "context.transpose", {at}, tokens_ * queries_);
    at = to_.view("context.reshape", at);
    return linear("projection", at, {tokens_, queries_, model_.hidden}, has_projection_bias(model_));
  }

  /// The tanh approximation: x (1 + tanh(c (x + 0.044715 x^3))) / 2.
  TensorId gelu(const std::string& name, TensorId x) {
    const TensorId square = to_.elementwise(name + ".square", {x, x});
    TensorId at = to_.elementwise(name + ".cube", {square, x});
    at = to_.elementwise(name + ".cube_scale", {at});
    at = to_.elementwise(name + ".inner_sum", {at, x});
    at = to_.elementwise(name + ".inner_scale", {at});
    at = to_.elementwise(name + ".tanh", {at});
    at = to_.elementwise(name + ".one_more", {at});
    at = to_.elementwise(name + ".half", {at});
    return to_.elementwise(name + ".product", {at, x});
  }

  TensorId mlp(const std::string& name, TensorId input, std::int64_t rows) {
    const Sides in{rows, model_.hidden, kind_->ffn_hidden}, out{rows, kind_->ffn_hidden, model_.hidden};
    if (!kind_->gated_mlp) {
      const TensorId inside = gelu(name + "gelu", linear(name + "fc1", input, in, model_.bias));
      return linear(name + "fc2", inside, out, model_.bias);
    }
    const TensorId gate = linear(name + "gate", input, in, model_.bias);
    const TensorId swish = to_.elementwise(name + "swish", {gate, to_.elementwise(name + "sigmoid", {gate})});
    const TensorId up = linear(name + "up", input, in, model_.bias);
    return linear(name + "down", to_.elementwise(name + "gated", {swish, up}), out, model_.bias);
  }

  /// Each expert has an even share of the tokens, rounded up; what it makes is weighted and added to the sum.
  TensorId expert_mlp(TensorId input) {
    const TensorId logits = linear("router", input, {tokens_, model_.hidden, kind_->experts}, false);
    const TensorId odds = to_.stream(OperatorKind::softmax, "router.softmax", {logits}, to_.elements(logits));
    const TensorId chosen = to_.reduce("router.top", odds, 2 * tokens_ * kind_->experts_per_token);
    const std::int64_t rows = ceil_div(tokens_ * kind_->experts_per_token, kind_->experts);
    std::vector<TensorId> made;
    for (std::int64_t expert = 0; expert < kind_->experts; ++expert) {
      const std::string name = fmt::format("expert{}.", expert);
      const TensorId own = to_.part(OperatorKind::embedding, name + "gather", {input, chosen}, rows * model_.hidden);
      made.push_back(to_.elementwise(name + "weigh", {mlp(name, own, rows), chosen}));
    }
    for (std::int64_t shared = 0; shared < kind_->shared_experts; ++shared)
      made.push_back(mlp(fmt::format("shared{}.", shared), input, tokens_));
    return to_.stream(OperatorKind::embedding, "experts.scatter", std::move(made), tokens_ * model_.hidden);
  }

  const Model& model_;
  Primitives& to_;
  const LayerFields* kind_ = nullptr;
  std::int64_t sequence_, batch_, tokens_, queries_ = 0, keys_ = 0;
};

/// What of a layer has no primitive operators here; null: nothing.
const char* beyond_primitives(const LayerFields& kind) {
  if (!has_attention(kind)) return "another mixer than attention";
  if (kind.output_gate) return "a gate on attention's output";
  if (!kind.mlp) return "layers without an MLP";
  if (is_latent(kind)) return "latent attention";
  if (value_dim(kind) != kind.head_dim) return "values of another size than keys";
  if (kind.query_key_norm == QueryKeyNorm::unweighted) return "norms without weights";
  if (kind.scaled_queries) return "scaled queries";
  if (kind.attention_sinks) return "attention sinks";
  if (kind.shared_ffn_hidden > 0) return "shared experts of another width";
  if (kind.shared_gate) return "a gate of shared experts";
  return kind.router_bias ? "a bias of the router" : nullptr;
}

void refuse_beyond(const Model& model) {
  if (has_vision(model))
    throw KeyError("model", fmt::format("{} has a vision tower, which is not told by primitive operators, allowed: "
                                        "model.vision.images = 0, which leaves it out",
                                        model.name));
  if (const std::string ends = without_vocabulary(model); !ends.empty())
    throw KeyError("model", fmt::format("{} has {}, which is not told by primitive operators", model.name, ends));
  if (model.prediction_depth > 0)
    throw KeyError("model", fmt::format("{} has modules that predict further ahead (prediction_depth), which are not "
                                        "told by primitive operators",
                                        model.name));
  for (std::uint32_t i = 0; i < layer_kinds(model); ++i)
    if (const char* what = beyond_primitives(layer_kind(model, i)))
      throw KeyError("model", fmt::format("{} has {}, which is not told by primitive operators", model.name, what));
}

void refuse_long(const Model& model, std::int64_t sequence) {
  if (model.position == PositionEmbedding::learned && sequence > model.max_positions)
    throw KeyError("workload.sequence",
                   fmt::format("{} tokens, {} has positions for {}", sequence, model.name, model.max_positions));
}

}  // namespace

Graph lowered_graph(const Model& model, std::int64_t sequence, const std::string& datatype, std::int64_t batch) {
  refuse_long(model, sequence);
  refuse_beyond(model);
  LayerShape shape;
  shape.sequence = sequence;
  shape.micro_batch = batch;
  shape.phase = Phase::prompt;
  shape.datatype = datatype;
  const Context context(model, shape);  // refuses what is larger than is counted
  Graph graph;
  graph.name = model.name + " lowered";
  Primitives primitives(graph, datatype);
  LoweredLayers layers(model, context, primitives);
  TensorId at = layers.embed();
  for (std::int64_t layer = 0; layer < model.layers; ++layer) {
    primitives.set_prefix(fmt::format("layer{}.", layer));
    layers.begin(kind_of(model, layer));
    at = layers.layer(at);
  }
  primitives.set_prefix("");
  layers.finish(at);
  return graph;
}

}  // namespace tessera::workload
