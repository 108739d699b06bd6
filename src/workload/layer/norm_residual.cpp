// Norms, and bias, dropout and residual: what sequence parallelism cuts along the sequence.
#include "context.hpp"

namespace tessera::workload::layer {

OperatorSet norm_section(const Context& context, const std::string& name, std::int64_t tokens, bool residual) {
  const std::int64_t h = context.model.hidden;
  const std::int64_t elements = tokens * h;
  OperatorSet set;
  set.forward = {context.stream(OperatorKind::norm, name, elements, elements)};
  if (!context.training) return set;
  // One pass over the input and the gradient of the output; the sums for weight and bias come from the same pass.
  set.input_gradient = {context.stream(OperatorKind::norm, name + " dgrad", 2 * elements, elements)};
  if (residual) {
    set.input_gradient.push_back(
        context.stream(OperatorKind::elementwise, name + " residual gradient", 2 * elements, elements));
  }
  const std::int64_t parameters = (context.model.norm == Norm::layernorm ? 2 : 1) * h;
  set.weight_gradient = {context.bias_gradient(name + " wgrad", parameters, parameters)};
  set.kept_input = context.element * elements;
  return set;
}

OperatorSet residual_section(const Context& context, const std::string& name) {
  const std::int64_t h = context.model.hidden;
  const std::int64_t elements = context.tokens_cut * h;
  const std::int64_t bias = context.model.bias ? h : 0;
  const std::int64_t mask = context.dropout ? elements : 0;
  const auto kind = bias > 0 || context.dropout ? OperatorKind::fused : OperatorKind::elementwise;
  OperatorSet set;
  set.forward = {context.stream_masked(kind, name, 2 * elements + bias, elements, 0, mask)};
  if (!context.training) return set;
  if (context.dropout) {
    set.input_gradient = {context.stream_masked(kind, name + " dgrad", elements, elements, mask, 0)};
  }
  if (context.model.bias) set.weight_gradient = {context.bias_gradient(name + " wgrad", elements, h)};
  set.kept_inside = mask;
  return set;
}

}  // namespace tessera::workload::layer
