#include "fused_attention.hpp"

#include <algorithm>

namespace tessera::workload::layer {

std::int64_t SeenTokens::keys(const Context& context) const {
  const std::int64_t window = context.layer.sliding_window, all = before + queries;
  return window == 0 ? all : std::min(all, queries + window - 1);
}

std::int64_t SeenTokens::pairs(const Context& context) const {
  if (!context.model.causal) return queries * (before + queries);
  const std::int64_t window = context.layer.sliding_window;
  // The first queries see fewer than the window has.
  const std::int64_t growing = window == 0 ? queries : std::clamp<std::int64_t>(window - before, 0, queries);
  return growing * before + growing * (growing + 1) / 2 + (queries - growing) * window;
}

std::int64_t FusedAttention::query_elements(const Context& context) const {
  return heads * queries * context.layer.head_dim;
}

std::int64_t FusedAttention::kv_elements(const Context& context) const {
  const std::int64_t groups = heads * context.shape.kv_heads_per_rank / context.shape.heads_per_rank;
  return 2 * groups * keys * context.layer.head_dim;
}

Operator FusedAttention::forward(const Context& context, bool has_statistics) const {
  Operator op;
  op.kind = OperatorKind::attention;
  op.name = "attention";
  op.datatype = context.shape.datatype;
  op.batch = heads;
  op.m = queries;
  op.n = keys;
  op.k = context.layer.head_dim;
  op.visible = visible;
  op.flops = 4 * visible * op.k;
  op.bytes_read = context.element * (query_elements(context) + kv_elements(context));
  op.bytes_written =
      context.element * query_elements(context) + (context.training || has_statistics ? statistics() : 0);
  return op;
}

Operator FusedAttention::backward(const Context& context) const {
  Operator op = forward(context);
  op.name = "attention dgrad";
  op.flops = op.flops / 2 * 5;
  op.bytes_read = context.element * (3 * query_elements(context) + kv_elements(context)) + statistics();
  op.bytes_written = context.element * (query_elements(context) + kv_elements(context));
  return op;
}

}  // namespace tessera::workload::layer
