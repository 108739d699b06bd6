#include "experts.hpp"

#include "parallel_linear.hpp"

namespace tessera::strategy::megatron {
namespace {

/// Bytes of the copies of a micro-batch's tokens, one an expert, whole.
std::int64_t copies(const Cut& cut) { return cut.activation_bytes() * cut.model->experts_per_token; }

/// What one tensor rank sends to the experts: its part of the sequence, or all.
std::int64_t dispatched(const Cut& cut) {
  return cut.uses_sequence_parallelism() ? cut.part_bytes() * cut.model->experts_per_token : copies(cut);
}

/// Over the tensor ranks that a group's experts are cut over: of the copies that all of them have for it.
void over_expert_ranks(Writer& writer, CollectiveKind kind, const char* label) {
  const Cut& cut = writer.cut();
  const GroupSlot group = cut.expert_tensor() < cut.options.tensor ? expert_tensor_group : tensor_group;
  writer.collective(kind, group, copies(cut) * cut.expert_tensor() / cut.options.tensor, cut.element(),
                    Activity::tensor_communication, label);
}

/// Into the column-parallel half of the experts, or backwards out of the row-parallel one.
void gather(Writer& writer) {
  const Cut& cut = writer.cut();
  if (!cut.uses_sequence_parallelism()) return;
  over_expert_ranks(writer, CollectiveKind::all_gather, "expert all-gather");
  if (cut.model->shared_experts > 0) {
    writer.tensor_collective(CollectiveKind::all_gather, cut.activation_bytes(), "expert all-gather");
  }
}

/// Out of the row-parallel half, or backwards out of the column-parallel one.
void reduce(Writer& writer) {
  const Cut& cut = writer.cut();
  const bool scatter = cut.uses_sequence_parallelism();
  const CollectiveKind kind = scatter ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  const char* label = scatter ? "expert reduce-scatter" : "expert all-reduce";
  over_expert_ranks(writer, kind, label);
  if (cut.model->shared_experts > 0) writer.tensor_collective(kind, cut.activation_bytes(), label);
}

}  // namespace

void experts_forward(Writer& writer, const workload::LayerOperators& layer, Activity activity) {
  const Cut& cut = writer.cut();
  writer.run(layer.router.forward, activity);
  writer.run(layer.dispatch.forward, activity);
  writer.expert_all_to_all(dispatched(cut), "expert dispatch");
  gather(writer);
  writer.run(layer.fc1.forward, activity);
  writer.run(layer.activation.forward, activity);
  writer.run(layer.fc2.forward, activity);
  reduce(writer);
  writer.expert_all_to_all(dispatched(cut), "expert combine");
  writer.run(layer.combine.forward, activity);
}

void experts_backward(Writer& writer, const workload::LayerOperators& layer) {
  const Cut& cut = writer.cut();
  plain_backward(writer, layer.combine);
  writer.expert_all_to_all(dispatched(cut), "expert combine");
  gather(writer);
  plain_backward(writer, layer.fc2);
  plain_backward(writer, layer.activation);
  writer.run(layer.fc1.input_gradient, Activity::backward);
  reduce(writer);
  writer.run(layer.fc1.weight_gradient, Activity::backward);
  writer.expert_all_to_all(dispatched(cut), "expert dispatch");
  plain_backward(writer, layer.dispatch);
  plain_backward(writer, layer.router);
}

}  // namespace tessera::strategy::megatron
