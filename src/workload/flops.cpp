// FLOP of a forward pass by the dimensions alone, as papers count them: masked scores are not left out.
#include "tessera/workload/transformer.hpp"

namespace tessera::workload {
namespace {

Int128 mlp_flops_per_token(const Model& model, bool moe) {
  const std::int64_t matrices = model.gated_mlp ? 3 : 2;
  const std::int64_t one = 2 * matrices * model.hidden * model.ffn_hidden;  // at most 6 x 10^16: a model's parameters
  if (!moe) return one;
  return Int128{one} * (model.experts_per_token + model.shared_experts) + 2 * model.hidden * model.experts;
}

}  // namespace

ForwardFlops forward_flops(const Model& model, std::int64_t sequence, std::int64_t context, Phase phase) {
  const std::int64_t queries = model.heads * model.head_dim;
  const std::int64_t columns = queries + 2 * model.kv_heads * model.head_dim;
  const std::int64_t linear = 2 * model.hidden * (columns + queries);
  const Int128 core = Int128{4} * sequence * context * queries;
  ForwardFlops flops;
  for (std::int64_t i = 0; i < model.layers; ++i) {
    flops.attention_core += core;
    flops.layers += core + sequence * (linear + mlp_flops_per_token(model, is_moe_layer(model, i)));
  }
  const std::int64_t tokens = phase == Phase::training ? sequence : 1;
  flops.logits = Int128{2} * tokens * model.hidden * model.vocabulary;
  if (model.masked_lm_head) flops.logits += Int128{2} * tokens * model.hidden * model.hidden;
  return flops;
}

}  // namespace tessera::workload
