// Self-attention on one tensor rank: QKV projection, core, output projection.
#include <algorithm>

#include "context.hpp"
#include "context_parallel.hpp"
#include "fused_attention.hpp"

namespace tessera::workload::layer {
namespace {

/// New tokens at the end of the context.
SeenTokens tokens_of(const Context& context) {
  return {context.shape.sequence, context.shape.context - context.shape.sequence};
}

/// Sizes of the attention core. Queries that share keys and values are rows of one product (grouped-query attention,
/// and latent attention where keys and values stay compressed: values are a part of the keys then).
struct Core {
  explicit Core(const Context& context)
      : kv_heads(context.absorbs() ? 1 : context.shape.kv_heads_per_rank),
        groups(context.shape.micro_batch * kv_heads),
        queries_per_kv((context.shape.heads_per_rank + kv_heads - 1) / kv_heads),
        rows(context.shape.sequence * queries_per_kv),
        context_length(tokens_of(context).keys(context)),
        head_dim(query_size(context)),
        value_size(output_size(context)),
        heads(context.shape.micro_batch * context.shape.heads_per_rank),
        scores(heads * context.shape.sequence * context_length),
        visible(heads * tokens_of(context).pairs(context)) {}
  std::int64_t kv_heads;
  std::int64_t groups;
  std::int64_t queries_per_kv;
  std::int64_t rows;
  std::int64_t context_length;
  std::int64_t head_dim;    ///< of queries and keys
  std::int64_t value_size;  ///< of values
  std::int64_t heads;       ///< of all sequences
  std::int64_t scores;      ///< elements of the score matrices
  std::int64_t visible;     ///< of those, not masked
};

void add_fused(const Context& context, const Core& core, OperatorSet& set) {
  const FusedAttention whole{core.heads, context.shape.sequence, core.context_length, core.visible};
  set.forward.push_back(whole.forward(context));
  if (!context.training) return;
  set.input_gradient.push_back(whole.backward(context));
  set.kept_inside = whole.statistics();
  if (core_keeps_output(context)) set.kept_inside += context.element * context.tokens * context.output_width;
}

void add_unfused_forward(const Context& context, const Core& core, OperatorSet& set) {
  const std::int64_t groups = core.groups, rows = core.rows, length = core.context_length, scores = core.scores;
  set.forward.push_back(context.gemm("scores", groups, rows, length, core.head_dim));
  if (context.layer.attention_softcap > 0)
    set.forward.push_back(context.stream(OperatorKind::fused, "soft cap", scores, scores));
  // The causal kernel reads what is visible and writes the whole matrix; the general one reads a mask as well.
  const std::int64_t mask = context.model.causal ? 0 : context.shape.micro_batch * context.shape.sequence * length;
  Operator softmax = context.stream(OperatorKind::softmax, "softmax", core.visible, scores);
  softmax.bytes_read += mask;
  set.forward.push_back(softmax);
  if (context.attention_dropout)
    set.forward.push_back(context.stream_masked(OperatorKind::dropout, "attention dropout", scores, scores, 0, scores));
  set.forward.push_back(context.gemm("context", groups, rows, core.value_size, length));
  const std::int64_t outputs = core.heads * context.shape.sequence * core.value_size;
  set.forward.push_back(context.stream(OperatorKind::copy, "context layout", outputs, outputs));
}

void add_unfused_backward(const Context& context, const Core& core, OperatorSet& set) {
  const std::int64_t groups = core.groups, rows = core.rows, length = core.context_length, scores = core.scores;
  std::vector<Operator>& backward = set.input_gradient;
  backward.push_back(context.gemm("context dgrad scores", groups, rows, length, core.value_size));
  backward.push_back(context.gemm("context dgrad values", groups, length, core.value_size, rows));
  if (context.attention_dropout) {
    backward.push_back(
        context.stream_masked(OperatorKind::dropout, "attention dropout dgrad", scores, scores, scores, 0));
  }
  backward.push_back(context.stream(OperatorKind::softmax, "softmax dgrad", 2 * core.visible, scores));
  if (context.layer.attention_softcap > 0)
    backward.push_back(context.stream(OperatorKind::fused, "soft cap dgrad", 2 * scores, scores));
  backward.push_back(context.gemm("scores dgrad queries", groups, rows, core.head_dim, length));
  backward.push_back(context.gemm("scores dgrad keys", groups, length, core.head_dim, rows));
  const std::int64_t gradients = context.tokens * context.qkv_width();
  backward.push_back(context.stream(OperatorKind::copy, "qkv gradient layout", gradients, gradients));
}

/// The last of what happens to queries.
void add_query_scale(const Context& context, OperatorSet& set) {
  const std::int64_t elements = context.tokens * context.query_width;
  set.forward.push_back(context.stream(OperatorKind::elementwise, "query scale", elements, elements));
  if (!context.training) return;
  set.put_before_gradient({context.stream(OperatorKind::elementwise, "query scale dgrad", elements, elements)});
}

/// From each query's logarithm of a sum of exponentials, and the sum of its gradients; both in FP32.
void add_sink_gradient(const Context& context, const Core& core, OperatorSet& set) {
  const std::int64_t statistics = 2 * 4 * core.heads * context.shape.sequence;
  // Context ranks that exchange heads for tokens have some of the heads each.
  const bool deals_out = context.shape.context_exchange == ContextExchange::all_to_all;
  const std::int64_t heads = context.shape.heads_per_rank / (deals_out ? context.shape.context_parallel : 1);
  const std::int64_t gradients = context.shape.gradient_bytes * heads;
  set.weight_gradient.push_back(streaming(OperatorKind::reduction, "sinks wgrad",
                                          Bytes{statistics + (context.shape.adds_gradients ? gradients : 0)},
                                          Bytes{gradients}, context.shape.datatype));
}

/// Elements that a rotary kernel reads, and writes. In training it makes another tensor, whose heads it copies whole
/// (Megatron-LM's apply_rotary_pos_emb, Transformer Engine's fused_rope); in inference it turns its share in place.
std::int64_t rotary_elements(const Context& context) {
  const std::int64_t columns = context.query_width + context.key_width;
  if (context.training) return context.tokens * columns;
  const auto turned =
      static_cast<std::int64_t>(context.layer.rotary_fraction * static_cast<double>(context.layer.head_dim));
  return context.tokens * (columns / context.layer.head_dim) * turned;
}

/// Norms over heads of several ranks, whose statistics these sum: of each token the sum of squares, of a layernorm that
/// of elements too; backward as many sums of products with the gradient. Those of queries and of keys are one message
/// of FP32 (vLLM, MiniMaxText01RMSNormTP.forward_qk; its Olmo2 gathers queries and keys instead, as OLMo-core moves
/// them, so that a rank has whole tokens). Kernels that make them are apart from those that norm.
class SummedStatistics {
 public:
  explicit SummedStatistics(const Context& context)
      : context_(context),
        is_needed_(sums_norm_statistics(context.layer) && context.shape.tensor > 1),
        bytes_(is_needed_ ? 4 * context.tokens * (context.model.norm == Norm::layernorm ? 2 : 1) : 0) {}

  /// B that a norm reads besides.
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  void add(const std::vector<std::pair<std::string, std::int64_t>>& norms, OperatorSet& set) const {
    if (!is_needed_) return;
    for (const auto& [name, width] : norms) set.forward.push_back(sums(name + " statistics", context_.tokens * width));
    set.sum_over_tensor(2 * bytes_, 4);
  }
  void add_backward(const std::vector<std::pair<std::string, std::int64_t>>& norms, OperatorSet& set) const {
    if (!is_needed_) return;
    set.sum_gradient_over_tensor(2 * bytes_, 4);
    std::vector<Operator> before;
    for (const auto& [name, width] : norms)
      before.push_back(sums(name + " statistics dgrad", 2 * context_.tokens * width));
    set.put_before_gradient(before);
  }

 private:
  [[nodiscard]] Operator sums(const std::string& name, std::int64_t elements) const {
    return streaming(OperatorKind::reduction, name, Bytes{context_.element * elements}, Bytes{bytes_},
                     context_.shape.datatype);
  }

  const Context& context_;
  bool is_needed_;
  std::int64_t bytes_;
};

/// A kernel for queries and one for keys, between the linear layer and rotary positions.
void add_query_key_norms(const Context& context, OperatorSet& set) {
  if (context.layer.query_key_norm == QueryKeyNorm::none) return;
  const bool is_shared = context.layer.query_key_norm == QueryKeyNorm::shared;
  const std::vector<std::pair<std::string, std::int64_t>> norms = {{"query norm", context.query_width},
                                                                   {"key norm", context.key_width}};
  const SummedStatistics statistics(context);
  statistics.add(norms, set);
  std::vector<Operator> backward;
  for (const auto& [name, width] : norms) {
    const std::int64_t elements = context.tokens * width;
    const std::int64_t vectors =
        context.layer.query_key_norm == QueryKeyNorm::unweighted ? 0 : norm_vectors(context.model);
    const std::int64_t parameters = vectors * (is_shared ? context.layer.head_dim : width);
    set.forward.push_back(context.stream(OperatorKind::norm, name, elements, elements));
    set.forward.back().bytes_read += statistics.bytes();
    if (!context.training) continue;
    backward.push_back(context.stream(OperatorKind::norm, name + " dgrad", 2 * elements, elements));
    backward.back().bytes_read += statistics.bytes();
    if (parameters > 0) set.weight_gradient.push_back(context.bias_gradient(name + " wgrad", parameters, parameters));
    set.kept_inside += context.element * elements;
  }
  set.put_before_gradient(backward);
  if (context.training) statistics.add_backward(norms, set);
}

}  // namespace

void add_kv_cache(const Context& context, OperatorSet& set) {
  const std::int64_t elements = context.tokens * cached_elements(context);
  Operator copy = context.stream(OperatorKind::copy, "kv cache", elements, 0);
  copy.bytes_written = context.cache_element * elements;
  set.forward.push_back(copy);
}

Linear qkv_linear(const Context& context) {
  return context.column_linear("qkv", 1, context.tokens, attention_columns(context));
}

OperatorSet qkv_section(const Context& context) {
  if (is_latent(context.layer)) return latent_qkv_section(context);
  const std::int64_t columns = attention_columns(context);
  const std::int64_t elements = context.tokens * columns;
  const std::int64_t rotated = rotary_elements(context);
  OperatorSet set;
  set.whole_input = context.model.hidden;
  const Linear linear = qkv_linear(context);
  add_linear(context, linear, set);
  const BiasKernels kernels = context.model.qkv_bias ? context.stack.qkv_bias_kernels : BiasKernels::none;
  if (kernels == BiasKernels::both)
    set.forward.push_back(context.stream(OperatorKind::elementwise, "qkv bias", elements + columns, elements));
  if (context.training && kernels != BiasKernels::none)
    set.weight_gradient.push_back(context.bias_gradient("qkv bias wgrad", elements, columns));
  add_query_key_norms(context, set);
  if (context.rotary) {
    set.forward.push_back(context.stream(OperatorKind::elementwise, "rotary", rotated, rotated));
    if (context.training)
      set.put_before_gradient({context.stream(OperatorKind::elementwise, "rotary dgrad", rotated, rotated)});
  }
  if (context.layer.scaled_queries) add_query_scale(context, set);
  set.gathered_element = gathered_element(context);
  if (context.training) keep_input(context, linear, set);
  return set;
}

namespace {

/// What the core makes, times the sigmoid of the gate's columns. The product's gradients need both, so that the core's
/// output is kept beside the gated one, which is the next section's input.
OperatorSet gated_output(const Context& context) {
  const std::int64_t elements = context.tokens * context.output_width;
  OperatorSet set;
  set.forward.push_back(context.stream(OperatorKind::fused, "output gate", 2 * elements, elements));
  if (!context.training) return set;
  set.input_gradient.push_back(context.stream(OperatorKind::fused, "output gate dgrad", 3 * elements, 2 * elements));
  // Where operands have fewer bits, fused attention keeps its output already.
  set.kept_inside = context.element * (core_keeps_output(context) ? 1 : 2) * elements;
  return set;
}

OperatorSet plain_core(const Context& context);

/// Of ranks that share sequences.
OperatorSet shared_core(const Context& context) {
  OperatorSet set = context_parallel_core(context);
  if (context.training && context.layer.attention_sinks) add_sink_gradient(context, Core(context), set);
  return set;
}

}  // namespace

OperatorSet core_section(const Context& context) {
  OperatorSet set = context.shape.context_parallel > 1 ? shared_core(context) : plain_core(context);
  if (context.layer.output_gate) append(gated_output(context), set);
  return set;
}

namespace {

OperatorSet plain_core(const Context& context) {
  const Core core(context);
  OperatorSet set;
  if (!context.training && context.shape.caches_keys) add_kv_cache(context, set);
  if (context.training) set.kept_input = context.element * context.tokens * context.qkv_width();
  if (context.shape.flash_attention)
    add_fused(context, core, set);
  else
    add_unfused_forward(context, core, set);
  if (context.absorbs()) add_expansion(context, set);
  if (!context.training) return set;
  if (context.layer.attention_sinks) add_sink_gradient(context, core, set);
  if (context.shape.flash_attention) return set;
  add_unfused_backward(context, core, set);
  // Output of the softmax; with dropout, its mask and its output as well.
  set.kept_inside = context.element * core.scores;
  if (context.attention_dropout) set.kept_inside += core.scores + context.element * core.scores;
  if (context.layer.attention_softcap > 0) set.kept_inside += context.element * core.scores;
  return set;
}

}  // namespace

bool core_keeps_output(const Context& context) {
  const bool exchanges_heads =
      context.shape.context_parallel > 1 && context.shape.context_exchange == ContextExchange::all_to_all;
  return context.has_low_products && has_attention(context.layer) && context.shape.flash_attention && !exchanges_heads;
}

OperatorSet projection_section(const Context& context) {
  OperatorSet set;
  set.summed_output = context.model.hidden;
  set.gathered_element = gathered_element(context);
  const Linear linear = context.row_linear("projection", 1, context.tokens, context.output_width);
  add_linear(context, linear, set);
  if (!context.training) return set;
  keep_input(context, linear, set);
  if (core_keeps_output(context) && !context.layer.output_gate) set.input_to_run_again = 0;
  return set;
}

}  // namespace tessera::workload::layer
