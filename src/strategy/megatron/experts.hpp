// The MLP of a MoE layer: router, dispatch of tokens to the ranks of their experts, experts, and the way back.
#pragma once

#include "writer.hpp"

namespace tessera::strategy::megatron {

/// Tokens travel cut along the sequence under sequence parallelism and are gathered over the tensor ranks at their
/// experts, which are cut by columns, then rows, like a dense MLP; over fewer of them, or not at all, where
/// expert_tensor says so.
void experts_forward(Writer& writer, const workload::LayerFields& kind, const workload::LayerOperators& layer,
                     Activity activity);
void experts_backward(Writer& writer, const workload::LayerFields& kind, const workload::LayerOperators& layer);
/// Its two parts: all but the weight gradients of the experts' products, and these.
void experts_input_gradient(Writer& writer, const workload::LayerFields& kind, const workload::LayerOperators& layer);
/// Under sequence parallelism the input of shared experts is gathered again for the latter.
void experts_weight_gradient(Writer& writer, const workload::LayerFields& kind, const workload::LayerOperators& layer);

}  // namespace tessera::strategy::megatron
