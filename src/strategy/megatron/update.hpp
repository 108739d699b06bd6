// From complete gradients to new weights: reductions over replicas, then the optimizer.
#pragma once

#include "device_state.hpp"

namespace tessera::strategy::megatron {

/// Clears the gradient buffer, before the first micro-batch.
void write_zero_gradients(Writer& writer, const DeviceState& state);
/// After the last micro-batch: sums of gradients over the replicas (unless a stream beside has made them: then the
/// stream waits for it), over the tensor ranks and over the tied embeddings; then the optimizer.
void write_update(Writer& writer, const DeviceState& state);
/// On the stream beside: reduces the gradients of each layer when it is announced, in the order of the backward
/// passes; what is left (embedding, head) is reduced by write_update. `layers`: the parameters of each, in the order of
/// their announcements.
void write_reduction(Writer& beside, const std::vector<workload::ParameterShare>& layers);
/// Whether that is done beside the backward pass.
[[nodiscard]] bool has_gradient_stream(const Cut& cut);

/// Weights of a device that those who hold them gather after their update.
struct GatheredWeights {
  Holders over;
  std::int64_t parameters = 0;
  std::int64_t products = 0;  ///< of those, the weights of linear layers
};
/// In the datatypes that they are kept in.
void gather_weights(Writer& writer, const GatheredWeights& weights);

}  // namespace tessera::strategy::megatron
