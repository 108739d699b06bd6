// FLOP of a forward pass by the dimensions alone, as papers count them: masked scores are not left out, but for those
// beyond a window or a chunk.
#include "diffusion.hpp"
#include "layer/joint.hpp"
#include "layer/mixer.hpp"
#include "tessera/workload/transformer.hpp"

namespace tessera::workload {
namespace {

Int128 mlp_flops_per_token(const Model& model, const LayerFields& kind) {
  if (!kind.mlp) return 0;
  const std::int64_t matrices = kind.gated_mlp ? 3 : 2;
  const Int128 column = 2 * matrices * model.hidden;
  if (!is_moe(kind)) return column * kind.ffn_hidden;
  const std::int64_t router = kind.experts + (kind.shared_gate ? 1 : 0);
  return column * (kind.experts_per_token * kind.ffn_hidden + shared_width(kind)) + 2 * model.hidden * router;
}

}  // namespace

ForwardFlops forward_flops(const Model& model, std::int64_t sequence, std::int64_t context, Phase phase) {
  ForwardFlops flops;
  const auto add_layer = [&](const LayerFields& kind) {
    const layer::MixerKind& mixer = layer::mixer_kind(kind.mixer);
    const Int128 core = mixer.core_flops(kind, sequence, context, phase);
    flops.attention_core += core;
    const Int128 weights = is_diffusion(model)
                               ? 2 * layer::joint_weights(model, kind, sequence)
                               : sequence * (2 * mixer.weights(model, kind) + mlp_flops_per_token(model, kind));
    flops.layers += core + weights;
  };
  for (std::int64_t i = 0; i < model.layers; ++i) add_layer(layer_kind(model, kind_of(model, i)));
  const std::int64_t depth = phase == Phase::training ? model.prediction_depth : 0;
  for (std::int64_t i = 0; i < depth; ++i) {
    add_layer(layer_kind(model, prediction_kind(model)));
    flops.layers += Int128{2} * sequence * 2 * model.hidden * model.hidden;
  }
  const std::int64_t tokens = phase == Phase::training ? sequence : 1;
  flops.logits = Int128{2} * tokens * model.hidden * model.vocabulary;
  flops.logits *= 1 + depth;
  if (is_diffusion(model)) flops.logits += diffusion_end_flops(model, sequence);
  if (model.masked_lm_head) flops.logits += Int128{2} * tokens * model.hidden * model.hidden;
  return flops;
}

}  // namespace tessera::workload
