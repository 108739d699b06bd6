#include "experts.hpp"

#include "expert_dispatch.hpp"
#include "parallel_linear.hpp"
#include "section_run.hpp"

namespace tessera::strategy::megatron {
namespace {

using workload::LayerFields;

/// Bytes of the copies of a micro-batch's tokens, one an expert, whole.
std::int64_t copies(const Cut& cut, const LayerFields& kind) { return cut.activation_bytes() * kind.experts_per_token; }

/// Over the tensor ranks that a group's experts are cut over: of the copies that all of them have for it.
void over_expert_ranks(Writer& writer, const LayerFields& layer, CollectiveKind kind, const char* label) {
  const Cut& cut = writer.cut();
  const GroupSlot group = cut.expert_tensor() < cut.options.tensor ? expert_tensor_group : tensor_group;
  writer.collective(kind, group, copies(cut, layer) * cut.expert_tensor() / cut.options.tensor, cut.element(),
                    Activity::tensor_communication, label);
}

/// Into the column-parallel half of the experts, or backwards out of the row-parallel one.
void gather(Writer& writer, const LayerFields& layer) {
  const Cut& cut = writer.cut();
  if (!cut.uses_sequence_parallelism()) return;
  over_expert_ranks(writer, layer, CollectiveKind::all_gather, "expert all-gather");
  if (layer.shared_experts > 0) {
    writer.tensor_collective(CollectiveKind::all_gather, cut.model->hidden, "expert all-gather");
  }
}

/// Out of the row-parallel half, or backwards out of the column-parallel one.
void reduce(Writer& writer, const LayerFields& layer) {
  const Cut& cut = writer.cut();
  const bool scatter = cut.uses_sequence_parallelism();
  const CollectiveKind kind = scatter ? CollectiveKind::reduce_scatter : CollectiveKind::all_reduce;
  const char* label = scatter ? "expert reduce-scatter" : "expert all-reduce";
  over_expert_ranks(writer, layer, kind, label);
  if (layer.shared_experts > 0) writer.tensor_collective(kind, cut.model->hidden, label);
}

}  // namespace

void experts_forward(Writer& writer, const LayerFields& kind, const workload::LayerOperators& layer,
                     Activity activity) {
  run_forward(writer, layer.router, activity);
  run_forward(writer, layer.dispatch, activity);
  send_to_experts(writer, kind, "expert dispatch");
  gather(writer, kind);
  run_forward(writer, layer.fc1, activity);
  run_forward(writer, layer.activation, activity);
  run_forward(writer, layer.fc2, activity);
  reduce(writer, kind);
  send_from_experts(writer, kind, "expert combine");
  run_forward(writer, layer.combine, activity);
}

namespace {

void backward(Writer& writer, const LayerFields& kind, const workload::LayerOperators& layer,
              bool has_weight_gradients) {
  const auto weights = [&](const workload::OperatorSet& set) {
    if (has_weight_gradients) writer.run(set.weight_gradient, Activity::backward);
  };
  plain_backward(writer, layer.combine);
  send_to_experts(writer, kind, "expert combine");
  gather(writer, kind);
  run_input_gradient(writer, layer.fc2);
  weights(layer.fc2);
  plain_backward(writer, layer.activation);
  run_input_gradient(writer, layer.fc1);
  reduce(writer, kind);
  weights(layer.fc1);
  send_from_experts(writer, kind, "expert dispatch");
  plain_backward(writer, layer.dispatch);
  plain_backward(writer, layer.router);
}

}  // namespace

void experts_backward(Writer& writer, const LayerFields& kind, const workload::LayerOperators& layer) {
  backward(writer, kind, layer, true);
}

void experts_input_gradient(Writer& writer, const LayerFields& kind, const workload::LayerOperators& layer) {
  backward(writer, kind, layer, false);
}

void experts_weight_gradient(Writer& writer, const workload::LayerOperators& layer) {
  writer.run(layer.fc2.weight_gradient, Activity::backward);
  writer.run(layer.fc1.weight_gradient, Activity::backward);
}

}  // namespace tessera::strategy::megatron
