#include "fused_attention.hpp"

#include <algorithm>

namespace tessera::workload::layer {

namespace {

/// Pairs of the first so many tokens of a sequence, each of which sees those before it in its own chunk, and itself.
std::int64_t pairs_in_chunks(std::int64_t tokens, std::int64_t chunk) {
  const std::int64_t rest = tokens % chunk;
  return tokens / chunk * (chunk * (chunk + 1) / 2) + rest * (rest + 1) / 2;
}

}  // namespace

std::int64_t query_size(const Context& context) {
  return context.absorbs() ? context.layer.kv_rank + context.layer.rotary_dim : context.layer.head_dim;
}

std::int64_t output_size(const Context& context) {
  return context.absorbs() ? context.layer.kv_rank : value_dim(context.layer);
}

std::int64_t SeenTokens::keys(const Context& context) const {
  const std::int64_t all = before + queries, chunk = context.layer.attention_chunk;
  if (chunk > 0) return all - before / chunk * chunk;
  const std::int64_t window = context.layer.sliding_window;
  return window == 0 ? all : std::min(all, queries + window - 1);
}

std::int64_t SeenTokens::pairs(const Context& context) const {
  if (!context.model.causal) return queries * (before + queries);
  if (const std::int64_t chunk = context.layer.attention_chunk; chunk > 0)
    return pairs_in_chunks(before + queries, chunk) - pairs_in_chunks(before, chunk);
  const std::int64_t window = context.layer.sliding_window;
  // The first queries see fewer than the window has.
  const std::int64_t growing = window == 0 ? queries : std::clamp<std::int64_t>(window - before, 0, queries);
  return growing * before + growing * (growing + 1) / 2 + (queries - growing) * window;
}

std::int64_t FusedAttention::query_elements(const Context& context) const {
  return heads * queries * query_size(context);
}

std::int64_t FusedAttention::output_elements(const Context& context) const {
  return heads * queries * output_size(context);
}

std::int64_t FusedAttention::kv_elements(const Context& context) const {
  const std::int64_t kv_heads = context.absorbs() ? 1 : context.shape.kv_heads_per_rank;
  const std::int64_t groups = heads * kv_heads / context.shape.heads_per_rank;
  return groups * keys * (query_size(context) + (context.absorbs() ? 0 : output_size(context)));
}

Operator FusedAttention::forward(const Context& context, bool has_statistics) const {
  Operator op;
  op.kind = OperatorKind::attention;
  op.name = "attention";
  op.datatype = context.shape.datatype;
  op.batch = heads;
  op.m = queries;
  op.n = keys;
  op.k = query_size(context);
  op.visible = visible;
  op.flops = 2 * visible * (op.k + output_size(context));
  // In generation keys and values come from the cache, and are converted where they are read.
  const std::int64_t kv_element = context.shape.phase == Phase::generation ? context.cache_element : context.element;
  op.bytes_read = context.element * query_elements(context) + kv_element * kv_elements(context);
  op.bytes_written =
      context.element * output_elements(context) + (context.training || has_statistics ? statistics() : 0);
  return op;
}

Operator FusedAttention::backward(const Context& context) const {
  Operator op = forward(context);
  op.name = "attention dgrad";
  op.flops = 2 * visible * (3 * op.k + 2 * output_size(context));
  op.bytes_read =
      context.element * (query_elements(context) + 2 * output_elements(context) + kv_elements(context)) + statistics();
  op.bytes_written = context.element * (query_elements(context) + kv_elements(context));
  return op;
}

}  // namespace tessera::workload::layer
