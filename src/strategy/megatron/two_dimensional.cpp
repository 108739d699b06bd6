#include "two_dimensional.hpp"

namespace tessera::strategy::megatron::over_rows_and_columns {
namespace {

bool is_product(const workload::Operator& op) { return op.kind == workload::OperatorKind::gemm; }

void gather(Writer& writer, GroupSlot group, std::int64_t elements) {
  writer.collective(CollectiveKind::all_gather, group, elements * writer.cut().element(), writer.cut().element(),
                    Activity::tensor_communication, "tensor all-gather");
}
void sum(Writer& writer, GroupSlot group, std::int64_t elements) {
  writer.collective(CollectiveKind::reduce_scatter, group, elements * writer.cut().element(), writer.cut().element(),
                    Activity::tensor_communication, "tensor reduce-scatter");
}

/// A norm before a column-parallel layer has a share of each token: mean and variance in FP32 come from all of them.
void sum_statistics(Writer& writer, const Sides& sides) {
  if (sides.summed != column_group) return;
  const Cut& cut = writer.cut();
  constexpr std::int64_t fp32 = 4, statistics = 2;
  const std::int64_t tokens = cut.tokens() / writer.members(row_group);
  writer.collective(CollectiveKind::all_reduce, column_group, statistics * fp32 * tokens, fp32,
                    Activity::tensor_communication, "norm all-reduce");
}

/// Operators, with what each product needs gathered before it and summed behind it.
void run(Writer& writer, const std::vector<workload::Operator>& operators, GroupSlot gathered, GroupSlot summed,
         Activity activity) {
  for (const workload::Operator& op : operators) {
    if (is_product(op)) gather(writer, gathered, op.m * op.k);
    writer.run({op}, activity);
    if (is_product(op)) sum(writer, summed, op.m * op.n);
  }
}

}  // namespace

void forward(Writer& writer, const workload::OperatorSet& set, const Sides& sides, Activity activity) {
  sum_statistics(writer, sides);
  run(writer, set.forward, sides.gathered, sides.summed, activity);
}

// A gradient comes the other way: it is gathered over those who summed, and summed over those who gathered. The weight
// gradient has the output's gradient by then, and lacks the input.
void backward(Writer& writer, const workload::OperatorSet& set, const Sides& sides) {
  run(writer, set.input_gradient, sides.summed, sides.gathered, Activity::backward);
  weight_gradient(writer, set, sides);
  sum_statistics(writer, sides);
}

void input_gradient(Writer& writer, const workload::OperatorSet& set, const Sides& sides) {
  run(writer, set.input_gradient, sides.summed, sides.gathered, Activity::backward);
  sum_statistics(writer, sides);
}

void weight_gradient(Writer& writer, const workload::OperatorSet& set, const Sides& sides) {
  for (const workload::Operator& op : set.weight_gradient) {
    if (is_product(op)) gather(writer, sides.gathered, op.n * op.k);  // rows of the input: the inner dimension
    writer.run({op}, Activity::backward);
  }
}

}  // namespace tessera::strategy::megatron::over_rows_and_columns
