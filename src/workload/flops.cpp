// FLOP of a forward pass by the dimensions alone, as papers count them: masked scores are not left out, but for those
// beyond a window.
#include <algorithm>

#include "tessera/workload/transformer.hpp"

namespace tessera::workload {
namespace {

Int128 mlp_flops_per_token(const Model& model, const LayerFields& kind) {
  const std::int64_t matrices = kind.gated_mlp ? 3 : 2;
  const std::int64_t one = 2 * matrices * model.hidden * kind.ffn_hidden;  // at most 6 x 10^16: a model's parameters
  if (!is_moe(kind)) return one;
  return Int128{one} * (kind.experts_per_token + kind.shared_experts) + 2 * model.hidden * kind.experts;
}

}  // namespace

ForwardFlops forward_flops(const Model& model, std::int64_t sequence, std::int64_t context, Phase phase) {
  ForwardFlops flops;
  for (std::int64_t i = 0; i < model.layers; ++i) {
    const LayerFields& kind = layer_kind(model, kind_of(model, i));
    const std::int64_t queries = kind.heads * kind.head_dim;
    const std::int64_t columns = queries + 2 * kind.kv_heads * kind.head_dim;
    const std::int64_t keys = kind.sliding_window == 0 ? context : std::min(context, kind.sliding_window);
    const Int128 core = Int128{4} * sequence * keys * queries;
    flops.attention_core += core;
    flops.layers += core + sequence * (2 * model.hidden * (columns + queries) + mlp_flops_per_token(model, kind));
  }
  const std::int64_t tokens = phase == Phase::training ? sequence : 1;
  flops.logits = Int128{2} * tokens * model.hidden * model.vocabulary;
  if (model.masked_lm_head) flops.logits += Int128{2} * tokens * model.hidden * model.hidden;
  return flops;
}

}  // namespace tessera::workload
