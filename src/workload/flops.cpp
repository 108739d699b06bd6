// FLOP of a forward pass by the dimensions alone, as papers count them: masked scores are not left out, but for those
// beyond a window or a chunk.
#include <algorithm>

#include "tessera/workload/transformer.hpp"

namespace tessera::workload {
namespace {

Int128 mlp_flops_per_token(const Model& model, const LayerFields& kind) {
  const std::int64_t matrices = kind.gated_mlp ? 3 : 2;
  const Int128 column = 2 * matrices * model.hidden;
  if (!is_moe(kind)) return column * kind.ffn_hidden;
  const std::int64_t router = kind.experts + (kind.shared_gate ? 1 : 0);
  return column * (kind.experts_per_token * kind.ffn_hidden + shared_width(kind)) + 2 * model.hidden * router;
}

/// Weights that a token meets, two FLOP each. Where keys and values stay compressed, the weights that would expand them
/// are met by queries and by what the core makes.
Int128 attention_weights(const Model& model, const LayerFields& kind) {
  const Int128 h = model.hidden, queries = kind.heads * kind.head_dim, outputs = kind.heads * value_dim(kind);
  if (!is_latent(kind)) return h * (queries + outputs + kind.kv_heads * (kind.head_dim + value_dim(kind)));
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

}  // namespace

ForwardFlops forward_flops(const Model& model, std::int64_t sequence, std::int64_t context, Phase phase) {
  ForwardFlops flops;
  for (std::int64_t i = 0; i < model.layers; ++i) {
    const LayerFields& kind = layer_kind(model, kind_of(model, i));
    const Int128 core = Int128{2} * sequence * keys_in_sight(kind, context, phase) * core_width(kind, phase);
    flops.attention_core += core;
    flops.layers += core + sequence * (2 * attention_weights(model, kind) + mlp_flops_per_token(model, kind));
  }
  const std::int64_t tokens = phase == Phase::training ? sequence : 1;
  flops.logits = Int128{2} * tokens * model.hidden * model.vocabulary;
  if (model.masked_lm_head) flops.logits += Int128{2} * tokens * model.hidden * model.hidden;
  return flops;
}

}  // namespace tessera::workload
