// Cross entropy, as stacks compute it.
#include "context.hpp"
#include "tessera/base/error.hpp"

namespace tessera::workload::layer {
namespace {

constexpr auto elementwise = OperatorKind::elementwise;

Operator in_fp32(OperatorKind kind, const std::string& name, std::int64_t read, std::int64_t written) {
  return streaming(kind, name, Bytes{4 * read}, Bytes{4 * written}, "fp32");
}

Operator converted(const std::string& name, std::int64_t numbers, std::int64_t from, std::int64_t to) {
  return streaming(elementwise, name, Bytes{from * numbers}, Bytes{to * numbers}, "fp32");
}

LossSections vocabulary_parallel(const Context& context, std::int64_t logits) {
  LossSections loss;
  loss[0].forward = {converted("logits to fp32", logits, context.element, 4),
                     in_fp32(OperatorKind::reduction, "loss maximum", logits, context.tokens)};
  loss[1].forward = {in_fp32(elementwise, "loss subtract maximum", logits + context.tokens, logits),
                     in_fp32(OperatorKind::embedding, "loss target", context.tokens, context.tokens)};
  loss[2].forward = {in_fp32(elementwise, "loss exponential", logits, logits),
                     in_fp32(OperatorKind::reduction, "loss sum", logits, context.tokens)};
  loss[3].forward = {in_fp32(elementwise, "loss quotient", logits + context.tokens, logits)};
  loss[3].input_gradient = {in_fp32(elementwise, "loss dgrad", logits, logits),
                            converted("logits gradient", logits, 4, context.element)};
  loss[3].kept_inside = 4 * logits;  // the softmax
  return loss;
}

/// megatron/core/fusions/fused_cross_entropy.py: torch.compile makes one kernel of each function. The target's logit
/// and the sum travel together.
LossSections compiled(const Context& context, std::int64_t logits) {
  LossSections loss;
  loss[0].forward = {converted("loss maximum", logits, context.element, 4)};
  loss[1].forward = {in_fp32(OperatorKind::fused, "loss exponential", logits + context.tokens, logits)};
  loss[2].forward = {in_fp32(OperatorKind::fused, "loss quotient", logits + context.tokens, logits)};
  loss[2].input_gradient = {converted("logits gradient", logits, 4, context.element)};
  loss[2].kept_inside = 4 * logits;
  return loss;
}

/// Each rank has all logits, and computes all of the loss: PyTorch's log softmax reads them three times, its gradient
/// four times.
LossSections gathered(const Context& context, std::int64_t logits) {
  const std::int64_t whole = logits * context.shape.tensor;
  OperatorSet set;
  if (context.shape.tensor > 1)
    set.forward = {context.stream(OperatorKind::copy, "gathered logits", whole, whole),
                   context.stream(OperatorKind::copy, "logits layout", whole, whole)};
  set.forward.push_back(converted("logits to fp32", whole, context.element, 4));
  set.forward.push_back(in_fp32(OperatorKind::softmax, "log softmax", 3 * whole, whole));
  set.forward.push_back(in_fp32(OperatorKind::reduction, "accuracy", whole, context.tokens));
  set.input_gradient = {in_fp32(elementwise, "loss dgrad", 0, whole),
                        in_fp32(OperatorKind::softmax, "log softmax dgrad", 4 * whole, whole),
                        converted("logits gradient", whole, 4, context.element)};
  if (context.shape.tensor > 1)
    set.input_gradient.push_back(context.stream(OperatorKind::copy, "logits gradient layout", logits, logits));
  set.kept_inside = 4 * whole;  // logarithms of the softmax
  return {set};
}

/// Statistics of a rank's columns come from one kernel; what ranks make of each other's is a few bytes a token.
LossSections fused(const Context& context, std::int64_t logits) {
  LossSections loss;
  loss[0].forward = {context.stream(OperatorKind::softmax, "cross entropy", logits, 0)};
  loss[0].input_gradient = {context.stream(OperatorKind::softmax, "cross entropy dgrad", logits, logits)};
  loss[0].kept_inside = context.element * logits;
  if (context.shape.tensor == 1) return loss;
  loss[1].forward = {in_fp32(elementwise, "loss sum", context.tokens, context.tokens)};
  loss[2].forward = {in_fp32(elementwise, "loss target", context.tokens, context.tokens)};
  return loss;
}

}  // namespace

LossSections loss_sections(const Context& context) {
  const std::int64_t columns = padded_vocabulary(context.model, context.shape.tensor) / context.shape.tensor;
  const std::int64_t logits = context.tokens * columns;
  switch (context.stack.loss) {
    case Loss::vocabulary_parallel:
      return vocabulary_parallel(context, logits);
    case Loss::compiled:
      return compiled(context, logits);
    case Loss::gathered:
      return gathered(context, logits);
    case Loss::fused:
      return fused(context, logits);
  }
  throw InternalError("loss out of range");
}

}  // namespace tessera::workload::layer
