// Self-attention on one tensor rank: QKV projection, core, output projection.
#include <algorithm>

#include "context.hpp"

namespace tessera::workload::layer {
namespace {

/// Keys that one of the new tokens sees: with a window of w tokens those of the last s + w - 1.
std::int64_t keys_in_sight(const Context& context) {
  const std::int64_t window = context.layer.sliding_window, all = context.shape.context;
  return window == 0 ? all : std::min(all, context.shape.sequence + window - 1);
}

/// Pairs of a query and a key that no mask hides, of one head and sequence. With a causal mask, new token i (of s, at
/// the end of the context) sees context - s + i + 1 tokens, or as many as its window has.
std::int64_t pairs_in_sight(const Context& context) {
  const std::int64_t s = context.shape.sequence, before = context.shape.context - s;
  if (!context.model.causal) return s * context.shape.context;
  const std::int64_t window = context.layer.sliding_window;
  // Of the new tokens, the first ones see fewer than the window has.
  const std::int64_t growing = window == 0 ? s : std::clamp<std::int64_t>(window - before, 0, s);
  return growing * before + growing * (growing + 1) / 2 + (s - growing) * window;
}

/// Sizes of the attention core. Queries that share keys and values are rows of one product (grouped-query attention).
struct Core {
  explicit Core(const Context& context)
      : groups(context.shape.micro_batch * context.shape.kv_heads_per_rank),
        queries_per_kv((context.shape.heads_per_rank + context.shape.kv_heads_per_rank - 1) /
                       context.shape.kv_heads_per_rank),
        rows(context.shape.sequence * queries_per_kv),
        context_length(keys_in_sight(context)),
        head_dim(context.layer.head_dim),
        heads(context.shape.micro_batch * context.shape.heads_per_rank),
        scores(heads * context.shape.sequence * context_length) {
    visible = heads * pairs_in_sight(context);
  }
  std::int64_t groups;
  std::int64_t queries_per_kv;
  std::int64_t rows;
  std::int64_t context_length;
  std::int64_t head_dim;
  std::int64_t heads;    ///< of all sequences
  std::int64_t scores;   ///< elements of the score matrices
  std::int64_t visible;  ///< of those, not masked
};

void add_kv_cache(const Context& context, OperatorSet& set) {
  const std::int64_t elements = 2 * context.tokens * context.kv_width;
  set.forward.push_back(context.stream(OperatorKind::copy, "kv cache", elements, elements));
}

void add_fused(const Context& context, const Core& core, OperatorSet& set) {
  const std::int64_t e = context.element;
  const std::int64_t queries = context.tokens * context.query_width;
  const std::int64_t keys_values = 2 * context.shape.micro_batch * core.context_length * context.kv_width;
  const std::int64_t statistics = 4 * core.heads * context.shape.sequence;  // log of the sum of exponentials, FP32
  Operator forward;
  forward.kind = OperatorKind::attention;
  forward.name = "attention";
  forward.datatype = context.shape.datatype;
  forward.batch = core.heads;
  forward.m = context.shape.sequence;
  forward.n = core.context_length;
  forward.k = core.head_dim;
  forward.visible = core.visible;
  forward.flops = 4 * core.visible * core.head_dim;
  forward.bytes_read = e * (queries + keys_values);
  forward.bytes_written = e * queries + (context.training ? statistics : 0);
  set.forward.push_back(forward);
  if (!context.training) return;
  // Five products instead of two: the scores again, then dV, dP, dQ and dK (Dao 2023, section 2.3.2).
  Operator backward = forward;
  backward.name = "attention dgrad";
  backward.flops = forward.flops / 2 * 5;
  backward.bytes_read = e * (3 * queries + keys_values) + statistics;
  backward.bytes_written = e * (queries + keys_values);
  set.input_gradient.push_back(backward);
  set.kept_inside = statistics;
  // The backward kernel reads the output too, which is the next section's input unless that keeps a cast of it.
  if (context.low) set.kept_inside += e * queries;
}

void add_unfused_forward(const Context& context, const Core& core, OperatorSet& set) {
  const auto& [groups, queries_per_kv, rows, length, d, heads, scores, visible] = core;
  set.forward.push_back(context.gemm("scores", groups, rows, length, d));
  // The causal kernel reads what is visible and writes the whole matrix; the general one reads a mask as well.
  const std::int64_t mask = context.model.causal ? 0 : context.shape.micro_batch * context.shape.sequence * length;
  Operator softmax = context.stream(OperatorKind::softmax, "softmax", visible, scores);
  softmax.bytes_read += mask;
  set.forward.push_back(softmax);
  if (context.dropout)
    set.forward.push_back(context.stream_masked(OperatorKind::dropout, "attention dropout", scores, scores, 0, scores));
  set.forward.push_back(context.gemm("context", groups, rows, d, length));
  const std::int64_t output = context.tokens * context.query_width;
  set.forward.push_back(context.stream(OperatorKind::copy, "context layout", output, output));
}

void add_unfused_backward(const Context& context, const Core& core, OperatorSet& set) {
  const auto& [groups, queries_per_kv, rows, length, d, heads, scores, visible] = core;
  std::vector<Operator>& backward = set.input_gradient;
  backward.push_back(context.gemm("context dgrad scores", groups, rows, length, d));
  backward.push_back(context.gemm("context dgrad values", groups, length, d, rows));
  if (context.dropout) {
    backward.push_back(
        context.stream_masked(OperatorKind::dropout, "attention dropout dgrad", scores, scores, scores, 0));
  }
  backward.push_back(context.stream(OperatorKind::softmax, "softmax dgrad", 2 * visible, scores));
  backward.push_back(context.gemm("scores dgrad queries", groups, rows, d, length));
  backward.push_back(context.gemm("scores dgrad keys", groups, length, d, rows));
  const std::int64_t gradients = context.tokens * (context.query_width + 2 * context.kv_width);
  backward.push_back(context.stream(OperatorKind::copy, "qkv gradient layout", gradients, gradients));
}

}  // namespace

OperatorSet qkv_section(const Context& context) {
  const std::int64_t columns = context.query_width + 2 * context.kv_width;
  const std::int64_t elements = context.tokens * columns;
  const std::int64_t rotated = context.tokens * (context.query_width + context.kv_width);
  OperatorSet set;
  set.whole_input = context.model.hidden;
  const bool rotary = context.model.position == PositionEmbedding::rotary;
  if (rotary && context.training) {
    set.input_gradient.push_back(context.stream(OperatorKind::elementwise, "rotary dgrad", rotated, rotated));
  }
  add_linear(context, context.column_linear("qkv", 1, context.tokens, columns), set);
  const BiasKernels kernels = context.model.qkv_bias ? context.stack.qkv_bias_kernels : BiasKernels::none;
  if (kernels == BiasKernels::both)
    set.forward.push_back(context.stream(OperatorKind::elementwise, "qkv bias", elements + columns, elements));
  if (context.training && kernels != BiasKernels::none)
    set.weight_gradient.push_back(context.bias_gradient("qkv bias wgrad", elements, columns));
  if (rotary) set.forward.push_back(context.stream(OperatorKind::elementwise, "rotary", rotated, rotated));
  set.gathered_element = gathered_element(context);
  if (context.training) set.kept_input = kept_operand(context, context.tokens_cut * context.model.hidden);
  return set;
}

OperatorSet core_section(const Context& context) {
  const Core core(context);
  OperatorSet set;
  if (!context.training) add_kv_cache(context, set);
  if (context.training) {
    set.kept_input = context.element * context.tokens * (context.query_width + 2 * context.kv_width);
  }
  if (context.shape.flash_attention) {
    add_fused(context, core, set);
    return set;
  }
  add_unfused_forward(context, core, set);
  if (!context.training) return set;
  add_unfused_backward(context, core, set);
  // Output of the softmax; with dropout, its mask and its output as well.
  set.kept_inside = context.element * core.scores;
  if (context.dropout) set.kept_inside += core.scores + context.element * core.scores;
  return set;
}

OperatorSet projection_section(const Context& context) {
  OperatorSet set;
  set.summed_output = context.model.hidden;
  set.gathered_element = gathered_element(context);
  add_linear(context, context.row_linear("projection", 1, context.tokens, context.query_width), set);
  if (context.training) set.kept_input = kept_operand(context, context.tokens * context.query_width);
  return set;
}

}  // namespace tessera::workload::layer
