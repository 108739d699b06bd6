// Modules that predict tokens further ahead: what stands in them beside a layer, an embedding and a head.
#include "layer/context.hpp"
#include "tessera/base/error.hpp"
#include "tessera/workload/transformer.hpp"

namespace tessera::workload {
namespace {

using layer::Context;

void append(const OperatorSet& later, OperatorSet& set) {
  const auto behind = [](const std::vector<Operator>& from, std::vector<Operator>& to) {
    to.insert(to.end(), from.begin(), from.end());
  };
  behind(later.forward, set.forward);
  behind(later.input_gradient, set.input_gradient);
  behind(later.weight_gradient, set.weight_gradient);
  set.kept_input += later.kept_input;
}

/// What the layer before made is kept already, as the input of the norm before the logits; its gradient is summed with
/// that norm's.
OperatorSet norms_section(const Context& context) {
  const std::int64_t elements = context.tokens_cut * context.model.hidden;
  OperatorSet set = layer::norm_section(context, "prediction embedding norm", context.tokens_cut, false);
  OperatorSet output = layer::norm_section(context, "prediction norm", context.tokens_cut, true);
  output.kept_input = 0;
  append(output, set);
  set.forward.push_back(context.stream(OperatorKind::copy, "prediction concat", 2 * elements, 2 * elements));
  if (context.training)
    set.put_before_gradient(
        {context.stream(OperatorKind::copy, "prediction concat dgrad", 2 * elements, 2 * elements)});
  return set;
}

/// Ranks gather each other's columns of all tokens, which then lie rank by rank. Under sequence parallelism each goes
/// on with its own tokens, and gathers the gradient of all, of which it takes its columns.
void add_gathering(const Context& context, OperatorSet& set) {
  const std::int64_t h = context.model.hidden, all = context.tokens * h, own = all / context.shape.tensor;
  set.gather_over_tensor(context.element * all, context.element);
  set.forward.push_back(context.stream(OperatorKind::copy, "prediction layout", all, all));
  if (!context.training) return;
  set.put_before_gradient({context.stream(OperatorKind::copy, "prediction layout dgrad", own, own)});
  if (!context.shape.sequence_parallel) return;
  const bool is_even = context.shape.sequence % context.shape.tensor == 0;
  set.gather_gradient_over_tensor(context.element * all,
                                  context.element * (is_even ? 1 : context.shape.micro_batch * h));
}

OperatorSet joining_section(const Context& context) {
  const std::int64_t h = context.model.hidden, t = context.shape.tensor;
  if (h % t != 0) throw InputError("hidden is not a multiple of the tensor-parallel ranks, and predictions need it");
  OperatorSet set;
  set.whole_input = 2 * h;
  set.gathered_element = layer::gathered_element(context);
  const layer::Linear linear{"prediction projection", 1, context.tokens, 2 * h, h / t, layer::Linear::Gathered::input};
  layer::add_linear(context, linear, set);
  if (t > 1) add_gathering(context, set);
  if (context.training) layer::keep_input(context, linear, set);
  return set;
}

}  // namespace

std::uint32_t prediction_kind(const Model& model) { return kind_of(model, model.layers - 1); }

PredictionOperators prediction_operators(const Model& model, const LayerShape& shape) {
  const Context context(model, shape);
  return {norms_section(context), joining_section(context)};
}

}  // namespace tessera::workload
