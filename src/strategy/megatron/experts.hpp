// The MLP of a MoE layer: router, dispatch of tokens to the ranks of their experts, experts, and the way back.
#pragma once

#include "writer.hpp"

namespace tessera::strategy::megatron {

struct ExpertLayer {
  const workload::LayerFields& kind;
  const workload::LayerOperators& operators;
  /// What shared experts do on a stream of their own, and is not among the operators; null: they run with the others.
  const workload::SharedExperts* beside = nullptr;
};

/// Tokens travel cut along the sequence under sequence parallelism and are gathered over the tensor ranks at their
/// experts, which are cut by columns, then rows, like a dense MLP; over fewer of them, or not at all, where
/// expert_tensor says so.
void experts_forward(Writer& writer, const ExpertLayer& layer, Activity activity);
void experts_backward(Writer& writer, const ExpertLayer& layer);
/// Its two parts: all but the weight gradients of the experts' products, and these.
void experts_input_gradient(Writer& writer, const ExpertLayer& layer);
/// Under sequence parallelism the input of shared experts is gathered again for the latter, or was kept whole.
void experts_weight_gradient(Writer& writer, const ExpertLayer& layer);

/// The same in steps, between which tokens are on their way to their experts and back. The second one of the backward
/// pass is that of the input gradients alone.
void experts_forward_before(Writer& writer, const ExpertLayer& layer, Activity activity);
void experts_forward_amid(Writer& writer, const ExpertLayer& layer, Activity activity);
void experts_forward_behind(Writer& writer, const ExpertLayer& layer, Activity activity);
void experts_backward_before(Writer& writer, const ExpertLayer& layer);
void experts_backward_amid(Writer& writer, const ExpertLayer& layer, bool has_weight_gradients);
void experts_backward_behind(Writer& writer, const ExpertLayer& layer);

/// The stream beside it, which goes on each time that the main one says so, as Megatron Core orders both
/// (core/transformer/moe/token_dispatcher.py and shared_experts.py). Forward the input is gathered beside the copies
/// that are made for dispatch, the first half runs beside the tokens' way to their experts, the second half, whose
/// results the tensor ranks sum, beside their way back. Backward it is the other way round. The main stream waits where
/// both are added.
void shared_forward(Writer& beside, const workload::SharedExperts& shared, Activity activity);
void shared_backward(Writer& beside, const workload::SharedExperts& shared);
/// Without the weight gradients of its products, which experts_weight_gradient has.
void shared_input_gradient(Writer& beside, const workload::SharedExperts& shared);

}  // namespace tessera::strategy::megatron
