#include "experts.hpp"

#include "expert_dispatch.hpp"
#include "parallel_linear.hpp"
#include "section_run.hpp"

namespace tessera::strategy::megatron {
namespace {

using workload::LayerFields;
using workload::OperatorSet;
using workload::SharedExperts;

/// Bytes of the copies of a micro-batch's tokens, one an expert, whole.
std::int64_t copies(const Cut& cut, const LayerFields& kind) { return cut.activation_bytes() * kind.experts_per_token; }

/// Over the tensor ranks that a group's experts are cut over: of the copies that all of them have for it.
void over_expert_ranks(Writer& writer, const LayerFields& layer, CollectiveKind kind, const char* label) {
  const Cut& cut = writer.cut();
  const GroupSlot group = cut.expert_tensor() < cut.options.tensor ? expert_tensor_group : tensor_group;
  writer.collective(kind, group, copies(cut, layer) * cut.expert_tensor() / cut.options.tensor, cut.element(),
                    Activity::tensor_communication, label);
}

/// Shared experts are there, and run with the others.
bool has_shared(const ExpertLayer& layer) { return layer.kind.shared_experts > 0 && layer.beside == nullptr; }

/// Into a half of the shared experts, which are linear layers as those of a dense MLP.
void gather_shared(Writer& writer, const ExpertLayer& layer, const OperatorSet& half) {
  if (has_shared(layer)) gather_whole(writer, writer.cut().model->hidden, half.gathered_element, "expert all-gather");
}

/// Into the column-parallel half of the experts, or backwards out of the row-parallel one.
void gather(Writer& writer, const ExpertLayer& layer, const OperatorSet& half) {
  if (writer.cut().uses_sequence_parallelism())
    over_expert_ranks(writer, layer.kind, CollectiveKind::all_gather, "expert all-gather");
  gather_shared(writer, layer, half);
}

struct TensorSum {
  CollectiveKind kind;
  const char* label;
};
TensorSum sum_of(const Cut& cut) {
  if (cut.uses_sequence_parallelism()) return {CollectiveKind::reduce_scatter, "expert reduce-scatter"};
  return {CollectiveKind::all_reduce, "expert all-reduce"};
}
/// Of what shared experts make, or of the gradients of what they read.
void sum_shared(Writer& writer) {
  const auto [kind, label] = sum_of(writer.cut());
  writer.tensor_collective(kind, writer.cut().model->hidden, label);
}

/// Out of the row-parallel half, or backwards out of the column-parallel one.
void reduce(Writer& writer, const ExpertLayer& layer) {
  const auto [kind, label] = sum_of(writer.cut());
  over_expert_ranks(writer, layer.kind, kind, label);
  if (has_shared(layer)) sum_shared(writer);
}

/// The stream beside does its next step.
void go_on(Writer& writer, const ExpertLayer& layer) {
  if (layer.beside != nullptr) writer.builder().signal(shared_go);
}
void wait_for_shared(Writer& writer, const ExpertLayer& layer, Activity activity) {
  if (layer.beside != nullptr) writer.builder().label("shared experts").activity(activity).wait(shared_done);
}

}  // namespace

void experts_forward_before(Writer& writer, const ExpertLayer& layer, Activity activity) {
  run_forward(writer, layer.operators.router, activity);
  go_on(writer, layer);
  run_forward(writer, layer.operators.dispatch, activity);
  go_on(writer, layer);
}

void experts_forward_amid(Writer& writer, const ExpertLayer& layer, Activity activity) {
  const workload::LayerOperators& run = layer.operators;
  gather(writer, layer, run.fc1);
  run_forward(writer, run.fc1, activity);
  run_forward(writer, run.activation, activity);
  run_forward(writer, run.fc2, activity);
  reduce(writer, layer);
  go_on(writer, layer);
}

void experts_forward_behind(Writer& writer, const ExpertLayer& layer, Activity activity) {
  run_forward(writer, layer.operators.combine, activity);
  wait_for_shared(writer, layer, activity);
  if (layer.beside != nullptr) run_forward(writer, layer.beside->sum, activity);
}

void experts_forward(Writer& writer, const ExpertLayer& layer, Activity activity) {
  experts_forward_before(writer, layer, activity);
  send_to_experts(writer, layer.kind, "expert dispatch");
  experts_forward_amid(writer, layer, activity);
  send_from_experts(writer, layer.kind, "expert combine");
  experts_forward_behind(writer, layer, activity);
}

namespace {

/// Of the input of shared experts a rank has kept its own tokens; what was sent to the others it has whole.
void first_weight_gradient(Writer& writer, const ExpertLayer& layer) {
  gather_shared(writer, layer, layer.operators.fc1);
  writer.run(layer.operators.fc1.weight_gradient, Activity::backward);
}

void backward(Writer& writer, const ExpertLayer& layer, bool has_weight_gradients) {
  experts_backward_before(writer, layer);
  send_to_experts(writer, layer.kind, "expert combine");
  experts_backward_amid(writer, layer, has_weight_gradients);
  send_from_experts(writer, layer.kind, "expert dispatch");
  experts_backward_behind(writer, layer);
}

}  // namespace

void experts_backward_before(Writer& writer, const ExpertLayer& layer) {
  go_on(writer, layer);
  plain_backward(writer, layer.operators.combine);
  go_on(writer, layer);
}

void experts_backward_amid(Writer& writer, const ExpertLayer& layer, bool has_weight_gradients) {
  const workload::LayerOperators& run = layer.operators;
  gather(writer, layer, run.fc2);
  run_input_gradient(writer, run.fc2);
  if (has_weight_gradients) writer.run(run.fc2.weight_gradient, Activity::backward);
  plain_backward(writer, run.activation);
  run_input_gradient(writer, run.fc1);
  reduce(writer, layer);
  if (has_weight_gradients) first_weight_gradient(writer, layer);
  go_on(writer, layer);
}

void experts_backward_behind(Writer& writer, const ExpertLayer& layer) {
  plain_backward(writer, layer.operators.dispatch);
  plain_backward(writer, layer.operators.router);
  wait_for_shared(writer, layer, Activity::backward);
}

void experts_backward(Writer& writer, const ExpertLayer& layer) { backward(writer, layer, true); }

void experts_input_gradient(Writer& writer, const ExpertLayer& layer) { backward(writer, layer, false); }

void experts_weight_gradient(Writer& writer, const ExpertLayer& layer) {
  writer.run(layer.operators.fc2.weight_gradient, Activity::backward);
  if (layer.beside != nullptr) writer.run(layer.beside->fc2.weight_gradient, Activity::backward);
  first_weight_gradient(writer, layer);
  if (layer.beside != nullptr) writer.run(layer.beside->fc1.weight_gradient, Activity::backward);
}

namespace {

void wait_for_turn(Writer& beside) {
  beside.builder().label("").activity(Activity::other_communication).wait(shared_go);
}

void gather_tokens(Writer& beside) { gather_whole(beside, beside.cut().model->hidden, 0, "expert all-gather"); }

void shared_back(Writer& beside, const SharedExperts& shared, bool has_weight_gradients) {
  const auto product = [&](const OperatorSet& half) {
    run_input_gradient(beside, half);
    if (has_weight_gradients) beside.run(half.weight_gradient, Activity::backward);
  };
  wait_for_turn(beside);
  run_input_gradient(beside, shared.scale);
  gather_tokens(beside);
  wait_for_turn(beside);
  product(shared.fc2);
  wait_for_turn(beside);
  plain_backward(beside, shared.activation);
  product(shared.fc1);
  sum_shared(beside);
  plain_backward(beside, shared.gate);
  beside.builder().signal(shared_done);
}

}  // namespace

void shared_forward(Writer& beside, const SharedExperts& shared, Activity activity) {
  wait_for_turn(beside);
  run_forward(beside, shared.gate, activity);
  gather_tokens(beside);
  wait_for_turn(beside);
  run_forward(beside, shared.fc1, activity);
  run_forward(beside, shared.activation, activity);
  wait_for_turn(beside);
  run_forward(beside, shared.fc2, activity);
  sum_shared(beside);
  run_forward(beside, shared.scale, activity);
  beside.builder().signal(shared_done);
}

void shared_backward(Writer& beside, const SharedExperts& shared) { shared_back(beside, shared, true); }

void shared_input_gradient(Writer& beside, const SharedExperts& shared) { shared_back(beside, shared, false); }

}  // namespace tessera::strategy::megatron
