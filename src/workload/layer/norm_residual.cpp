// Norms, and bias, dropout and residual: what sequence parallelism cuts along the sequence.
#include "context.hpp"

namespace tessera::workload::layer {
namespace {

/// A norm of what attention or MLP make, with the biases that it waits for before it.
void add_output_norm(const Context& context, const std::string& name, std::int64_t biases, OperatorSet& set) {
  const std::int64_t h = context.model.hidden, elements = context.tokens_cut * h;
  if (biases > 0)
    set.forward.push_back(
        context.stream(OperatorKind::elementwise, name + " output bias", elements + biases * h, elements));
  const OperatorSet norm = norm_section(context, name + " output norm", context.tokens_cut, false);
  for (const auto part : {&OperatorSet::forward, &OperatorSet::input_gradient, &OperatorSet::weight_gradient})
    (set.*part).insert((set.*part).end(), (norm.*part).begin(), (norm.*part).end());
  set.kept_input += norm.kept_input;
}

}  // namespace

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
  const std::int64_t parameters = norm_vectors(context.model) * h;
  set.weight_gradient = {context.bias_gradient(name + " wgrad", parameters, parameters)};
  set.kept_input = context.element * elements;
  return set;
}

OperatorSet input_norm_section(const Context& context, const std::string& name) {
  if (context.layer.sublayer_norms != SublayerNorms::output)
    return norm_section(context, name, context.tokens_cut, true);
  OperatorSet set;
  const std::int64_t elements = context.tokens_cut * context.model.hidden;
  if (context.training)
    set.input_gradient = {
        context.stream(OperatorKind::elementwise, name + " residual gradient", 2 * elements, elements)};
  return set;
}

OperatorSet residual_section(const Context& context, const std::string& name, std::int64_t biases) {
  const std::int64_t h = context.model.hidden;
  const std::int64_t elements = context.tokens_cut * h;
  const std::int64_t mask = context.dropout ? elements : 0;
  const std::string residual = name + " residual";
  OperatorSet set;
  std::int64_t biases_here = biases;
  if (context.training && context.dropout)
    set.input_gradient = {context.stream_masked(OperatorKind::fused, residual + " dgrad", elements, elements, mask, 0)};
  if (context.layer.sublayer_norms != SublayerNorms::input) {
    add_output_norm(context, name, biases, set);
    biases_here = 0;
  }
  const auto kind = biases_here > 0 || context.dropout ? OperatorKind::fused : OperatorKind::elementwise;
  set.forward.push_back(context.stream_masked(kind, residual, 2 * elements + biases_here * h, elements, 0, mask));
  if (!context.training) return set;
  for (std::int64_t i = 0; i < biases; ++i)
    set.weight_gradient.push_back(context.bias_gradient(residual + " wgrad", elements, h));
  set.kept_inside = mask;
  return set;
}

}  // namespace tessera::workload::layer
