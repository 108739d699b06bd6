#include "parallel_linear.hpp"

#include "section_run.hpp"
#include "tessera/program/sublayer.hpp"

namespace tessera::strategy::megatron {
namespace {

void wait_for(Writer& writer, Event event, const char* label) {
  writer.builder().label(label).activity(Activity::tensor_communication).wait(event);
}

/// Without sequence parallelism the input is whole already, and its gradient stays whole.
CollectiveKind reduction(const Cut& cut) {
  return cut.uses_sequence_parallelism() ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
}

const char* reduction_label(const Cut& cut) {
  return cut.uses_sequence_parallelism() ? "tensor reduce-scatter" : "tensor all-reduce";
}

/// Sums over the tensor ranks of what operators have made, without sequence parallelism of `sums` results one after
/// another.
void reduce(Writer& writer, std::int64_t width, int sums = 1) {
  const Cut& cut = writer.cut();
  for (int i = 0; i < (cut.uses_sequence_parallelism() ? 1 : sums); ++i)
    writer.tensor_collective(reduction(cut), width, reduction_label(cut));
}

/// At transaction level the sum belongs to the kernel of the product.
void run_kernels(Writer& writer, const std::vector<workload::Operator>& operators, Activity activity) {
  const Cut& cut = writer.cut();
  for (const workload::Operator& op : operators) {
    if (op.kind == workload::OperatorKind::gemm) {
      program::sublayer::add_inline({cut.options.sublayers, activity, tensor_group, !cut.uses_sequence_parallelism()},
                                    *cut.device_spec, op, writer.builder());
    } else {
      writer.run({op}, activity);
    }
  }
}

void input_gradient_and_reduce(Writer& writer, const workload::OperatorSet& set) {
  if (writer.cut().uses_kernels()) return run_kernels(writer, set.input_gradient, Activity::backward);
  run_input_gradient(writer, set);
  reduce(writer, set.backward_sums(), set.input_gradients);
}

/// Of what a section takes whole, so many elements of each token; none: nothing.
void gather_part(Writer& writer, const workload::OperatorSet& set, std::int64_t width) {
  gather_whole(writer, width, set.gathered_element, "tensor all-gather");
}

void backward_in_turn(Writer& writer, const workload::OperatorSet& set) {
  gather_part(writer, set, set.backward_gathers());
  input_gradient_and_reduce(writer, set);
  writer.run(set.weight_gradient, Activity::backward);
}

void backward_beside(Writer& writer, const workload::OperatorSet& set) {
  const Cut& cut = writer.cut();
  const BesideWidths widths = beside_widths(cut, set);
  if (widths.gathered > 0) writer.builder().signal(gather_go);
  run_input_gradient(writer, set);
  if (widths.gathered > 0) wait_for(writer, gather_done, "tensor all-gather");
  if (widths.summed > 0) writer.builder().signal(reduce_go);
  writer.run(set.weight_gradient, Activity::backward);
  if (widths.summed > 0) wait_for(writer, reduce_done, reduction_label(cut));
}

}  // namespace

bool has_beside_stream(const Cut& cut) {
  return cut.training() && cut.options.tensor > 1 && cut.options.overlap_tensor_communication && !cut.uses_kernels() &&
         !cut.is_two_dimensional() && !cut.splits_backward();  // those run on the main stream alone
}

void gather_whole(Writer& writer, std::int64_t width, std::int64_t element, const char* label) {
  if (writer.cut().uses_sequence_parallelism())
    writer.tensor_collective(CollectiveKind::all_gather, width, label, element);
}

void plain_backward(Writer& writer, const workload::OperatorSet& set) {
  run_input_gradient(writer, set);
  writer.run(set.weight_gradient, Activity::backward);
}

void column_forward(Writer& writer, const workload::OperatorSet& set, Activity activity) {
  gather_part(writer, set, set.whole_input);
  run_forward(writer, set, activity);
}

void column_backward(Writer& writer, const workload::OperatorSet& set) {
  if (beside_widths(writer.cut(), set) == BesideWidths{}) {
    plain_backward(writer, set);
  } else if (has_beside_stream(writer.cut())) {
    backward_beside(writer, set);
  } else {
    backward_in_turn(writer, set);
  }
}

void row_forward(Writer& writer, const workload::OperatorSet& set, Activity activity) {
  if (writer.cut().uses_kernels()) return run_kernels(writer, set.forward, activity);
  run_forward(writer, set, activity);
  reduce(writer, set.summed_output);
}

void row_backward(Writer& writer, const workload::OperatorSet& set) {
  row_input_gradient(writer, set);
  row_weight_gradient(writer, set);
}

void column_input_gradient(Writer& writer, const workload::OperatorSet& set) { input_gradient_and_reduce(writer, set); }

void column_weight_gradient(Writer& writer, const workload::OperatorSet& set) {
  gather_part(writer, set, set.backward_gathers());
  writer.run(set.weight_gradient, Activity::backward);
}

void row_input_gradient(Writer& writer, const workload::OperatorSet& set) {
  gather_part(writer, set, set.summed_output);
  run_input_gradient(writer, set);
}

void row_weight_gradient(Writer& writer, const workload::OperatorSet& set) {
  writer.run(set.weight_gradient, Activity::backward);
}

std::int64_t needed_by_weights(const Cut& cut, const workload::OperatorSet& set) {
  std::int64_t bytes = set.kept_input;
  for (const workload::Operator& op : set.weight_gradient)
    if (op.kind == workload::OperatorKind::gemm)
      bytes += workload::operand_bytes(op.batch * op.m * op.k, op.datatype, cut.workload->scaling);
  return bytes;
}

BesideWidths beside_widths(const Cut& cut, const workload::OperatorSet& set) {
  const std::int64_t gathered = cut.uses_sequence_parallelism() ? set.backward_gathers() : 0;
  return {gathered, set.backward_sums(), gathered > 0 ? set.gathered_element : 0};
}

program::BlockId beside_block(program::Program& program, const Cut& cut, const BesideWidths& widths) {
  Writer writer(program, cut, "tensor communication beside backward");
  const auto collective = [&](CollectiveKind kind, std::int64_t width, std::int64_t element, const char* label) {
    writer.collective(kind, tensor_beside_group, cut.token_bytes(width, element), cut.tensor_element(width, element),
                      Activity::tensor_communication, label);
  };
  if (cut.uses_sequence_parallelism() && widths.gathered > 0) {
    wait_for(writer, gather_go, "");
    collective(CollectiveKind::all_gather, widths.gathered, widths.gathered_element, "tensor all-gather");
    writer.builder().signal(gather_done);
  }
  if (widths.summed == 0) return writer.builder().done();
  wait_for(writer, reduce_go, "");
  collective(reduction(cut), widths.summed, 0, reduction_label(cut));
  writer.builder().signal(reduce_done);
  return writer.builder().done();
}

}  // namespace tessera::strategy::megatron
