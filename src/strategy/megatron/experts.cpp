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

/// Into a half of the shared experts, which are linear layers as those of a dense MLP.
void gather_shared(Writer& writer, const LayerFields& layer, const workload::OperatorSet& half) {
  if (layer.shared_experts > 0)
    gather_whole(writer, writer.cut().model->hidden, half.gathered_element, "expert all-gather");
}

/// Into the column-parallel half of the experts, or backwards out of the row-parallel one.
void gather(Writer& writer, const LayerFields& layer, const workload::OperatorSet& half) {
  if (writer.cut().uses_sequence_parallelism())
    over_expert_ranks(writer, layer, CollectiveKind::all_gather, "expert all-gather");
  gather_shared(writer, layer, half);
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
  gather(writer, kind, layer.fc1);
  run_forward(writer, layer.fc1, activity);
  run_forward(writer, layer.activation, activity);
  run_forward(writer, layer.fc2, activity);
  reduce(writer, kind);
  send_from_experts(writer, kind, "expert combine");
  run_forward(writer, layer.combine, activity);
}

namespace {

/// Of the input of shared experts a rank has kept its own tokens; what was sent to the others it has whole.
void first_weight_gradient(Writer& writer, const LayerFields& kind, const workload::LayerOperators& layer) {
  gather_shared(writer, kind, layer.fc1);
  writer.run(layer.fc1.weight_gradient, Activity::backward);
}

void backward(Writer& writer, const LayerFields& kind, const workload::LayerOperators& layer,
              bool has_weight_gradients) {
  plain_backward(writer, layer.combine);
  send_to_experts(writer, kind, "expert combine");
  gather(writer, kind, layer.fc2);
  run_input_gradient(writer, layer.fc2);
  if (has_weight_gradients) writer.run(layer.fc2.weight_gradient, Activity::backward);
  plain_backward(writer, layer.activation);
  run_input_gradient(writer, layer.fc1);
  reduce(writer, kind);
  if (has_weight_gradients) first_weight_gradient(writer, kind, layer);
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

void experts_weight_gradient(Writer& writer, const LayerFields& kind, const workload::LayerOperators& layer) {
  writer.run(layer.fc2.weight_gradient, Activity::backward);
  first_weight_gradient(writer, kind, layer);
}

}  // namespace tessera::strategy::megatron
