// Attention as one of the mixers: its parameters, its FLOP and its cache.
#include <algorithm>

#include "mixer.hpp"

namespace tessera::workload::layer {
namespace attention {
namespace {

/// Those of queries and keys: the same on each rank where heads share them.
void add_query_key_norms(const Context& context, ParameterShare& share) {
  const std::int64_t vectors = norm_vectors(context.model);
  const std::int64_t shared =
      context.layer.query_key_norm == QueryKeyNorm::shared ? 2 * vectors * context.layer.head_dim : 0;
  share.partial += shared;
  share.replicated += shared;
  if (context.layer.query_key_norm == QueryKeyNorm::per_head ||
      context.layer.query_key_norm == QueryKeyNorm::whole_width)
    share.sharded += vectors * (context.query_width + context.key_width);
}

/// What compresses is on each tensor rank, what makes heads of that is cut.
void add_latent_products(const Context& context, ParameterShare& share) {
  const LayerFields& layer = context.layer;
  const std::int64_t h = context.model.hidden, of_queries = layer.query_rank > 0 ? layer.query_rank : h;
  const std::int64_t expanded = layer.head_dim - layer.rotary_dim + value_dim(layer);
  share.replicated += h * (layer.query_rank + layer.kv_rank + layer.rotary_dim);
  share.sharded += of_queries * context.query_width + layer.kv_rank * context.shape.heads_per_rank * expanded;
}

void add_products(const Context& context, ParameterShare& share) {
  share.sharded += context.output_width * context.model.hidden;
  if (is_latent(context.layer)) return add_latent_products(context, share);
  share.sharded += context.model.hidden * attention_columns(context);
}

void add_parameters(const Context& context, ParameterShare& share) {
  const Model& model = context.model;
  add_products(context, share);
  share.replicated += has_projection_bias(model) ? model.hidden : 0;
  if (context.layer.attention_sinks) share.sharded += context.shape.heads_per_rank;
  add_query_key_norms(context, share);
  if (is_latent(context.layer)) {
    share.replicated += norm_vectors(model) * (context.layer.query_rank + context.layer.kv_rank);
  } else {
    share.sharded += model.qkv_bias ? attention_columns(context) : 0;
  }
}

/// Of a sequence's last so many tokens, those of the rank that has most of them: the first one, whose pieces are the
/// first and the last of 2 c.
std::int64_t tokens_of_fullest_rank(const LayerShape& shape, std::int64_t tokens) {
  if (shape.context_parallel == 1) return tokens;
  const std::int64_t piece = shape.context / (2 * shape.context_parallel);
  return std::min(tokens, piece) + std::max<std::int64_t>(0, tokens - (shape.context - piece));
}

std::int64_t cached_bytes(const Context& context) {
  std::int64_t tokens = context.shape.context;
  for (const std::int64_t sight : {context.layer.sliding_window, context.layer.attention_chunk})
    if (sight > 0) tokens = std::min(tokens, sight);
  tokens = tokens_of_fullest_rank(context.shape, tokens);
  return cache_product(context.cache_element * cached_elements(context), {tokens});
}

/// Where keys and values stay compressed, the weights that would expand them are met by queries and by what the core
/// makes.
Int128 weights(const Model& model, const LayerFields& kind) {
  const Int128 h = model.hidden, queries = kind.heads * kind.head_dim, outputs = kind.heads * value_dim(kind);
  const Int128 gate = kind.output_gate ? outputs : 0;
  if (!is_latent(kind)) return h * (gate + queries + outputs + kind.kv_heads * (kind.head_dim + value_dim(kind)));
  const Int128 of_queries = kind.query_rank > 0 ? kind.query_rank * (h + queries) : h * queries;
  const Int128 expanded = kind.heads * (kind.head_dim - kind.rotary_dim + value_dim(kind));
  return of_queries + h * (kind.kv_rank + kind.rotary_dim) + kind.kv_rank * expanded + outputs * h;
}

/// Of scores and context, for a query and a key.
std::int64_t core_width(const LayerFields& kind, Phase phase) {
  if (is_latent(kind) && phase == Phase::generation) return kind.heads * (2 * kind.kv_rank + kind.rotary_dim);
  return kind.heads * (kind.head_dim + value_dim(kind));
}

/// Keys that a query sees at most.
std::int64_t keys_in_sight(const LayerFields& kind, std::int64_t context, Phase phase) {
  if (kind.sliding_window > 0) return std::min(context, kind.sliding_window);
  if (kind.attention_chunk == 0) return context;
  // The one query of a generated token has its place in a chunk.
  return phase == Phase::generation ? (context - 1) % kind.attention_chunk + 1
                                    : std::min(context, kind.attention_chunk);
}

Int128 core_flops(const LayerFields& kind, std::int64_t sequence, std::int64_t context, Phase phase) {
  return Int128{2} * sequence * keys_in_sight(kind, context, phase) * core_width(kind, phase);
}

}  // namespace
}  // namespace attention

MixerKind attention_mixer() {
  using namespace attention;
  return {.mixer = Mixer::attention,
          .key = "attention",
          .words = "attention",
          .needs = {},
          .input_columns = attention_columns,
          .input = qkv_section,
          .core = core_section,
          .output = projection_section,
          .add_parameters = add_parameters,
          .add_products = add_products,
          .cached_bytes = cached_bytes,
          .weights = weights,
          .core_flops = core_flops};
}

}  // namespace tessera::workload::layer
