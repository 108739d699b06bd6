// A whole layer, and what it keeps.
#include <fmt/format.h>

#include "context.hpp"
#include "tessera/base/error.hpp"

namespace tessera::workload {

std::array<const OperatorSet*, LayerOperators::section_count> LayerOperators::in_order() const {
  return {
      &attention_norm, &qkv, &attention_core, &projection,  &attention_residual, &mlp_norm, &router, &dispatch, &fc1,
      &activation,     &fc2, &combine,        &mlp_residual};
}

LayerOperators transformer_layer(const Model& model, const LayerShape& shape) {
  const layer::Context context(model, shape);
  LayerOperators result;
  result.attention_norm = layer::norm_section(context, "attention norm", context.tokens_cut, true);
  result.qkv = layer::qkv_section(context);
  result.attention_core = layer::core_section(context);
  result.projection = layer::projection_section(context);
  result.attention_residual = layer::residual_section(context, "attention residual");
  result.mlp_norm = layer::norm_section(context, "mlp norm", context.tokens_cut, true);
  if (shape.moe) {
    layer::add_experts(context, result);
  } else {
    layer::add_dense_mlp(context, result);
  }
  result.mlp_residual = layer::residual_section(context, "mlp residual");
  return result;
}

std::int64_t activation_bytes(const LayerOperators& layer, Recomputation recomputation) {
  // The input of the layer is the input of its first norm.
  if (recomputation == Recomputation::full) return layer.attention_norm.kept_input;
  std::int64_t bytes = 0;
  for (const OperatorSet* section : layer.in_order()) bytes += section->kept();
  if (recomputation == Recomputation::selective) bytes -= layer.attention_core.kept_inside;
  return bytes;
}

std::int64_t kv_cache_bytes(const Model& model, const LayerShape& shape, std::int64_t layers) {
  const layer::Context context(model, shape);
  std::int64_t bytes = 2 * context.element * context.kv_width;
  for (const std::int64_t factor : {context.shape.micro_batch, context.shape.context, layers}) {
    if (__builtin_mul_overflow(bytes, factor, &bytes))
      throw KeyError("workload.sequence", "the keys and values that a device keeps are more than 9.2 EB");
  }
  return bytes;
}

}  // namespace tessera::workload
