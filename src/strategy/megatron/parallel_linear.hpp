// Linear layers cut over the tensor ranks (Shoeybi et al. 2019; with sequence parallelism, Korthikanti et al. 2022,
// section 4.2.2), as Megatron-LM of 2022 runs them: in the backward pass of a column-parallel layer the collectives run
// beside the GEMMs, on a stream of their own (megatron/mpu/layers.py, LinearWithGradAccumulationAndAsyncCommunication):
// the input is gathered again beside the input-gradient GEMM, the input gradient is reduced beside the weight-gradient
// GEMM. All other collectives stop the main stream.
#pragma once

#include "writer.hpp"

namespace tessera::strategy::megatron {

void column_forward(Writer& writer, const workload::OperatorSet& set, Activity activity);
void column_backward(Writer& writer, const workload::OperatorSet& set);
void row_forward(Writer& writer, const workload::OperatorSet& set, Activity activity);
void row_backward(Writer& writer, const workload::OperatorSet& set);
/// The two parts of a backward pass apart. Nothing is left that the collectives could run beside: they stop the main
/// stream. Under sequence parallelism the input of a column-parallel layer is gathered for the weight gradient.
void column_input_gradient(Writer& writer, const workload::OperatorSet& set);
void column_weight_gradient(Writer& writer, const workload::OperatorSet& set);
void row_input_gradient(Writer& writer, const workload::OperatorSet& set);
void row_weight_gradient(Writer& writer, const workload::OperatorSet& set);
/// Before what reads so many elements of each token whole, under sequence parallelism; 0: nothing. `element`: B of one
/// on the way, 0: as an activation.
void gather_whole(Writer& writer, std::int64_t width, std::int64_t element, const char* label);
/// Input gradient, then weight gradient: what is not cut, or not a linear layer.
void plain_backward(Writer& writer, const workload::OperatorSet& set);

/// B: what the weight gradients of a linear layer need when the input gradients are there: its input, and the gradient
/// of its output, an operand of each of its products in their datatype (Qi et al. 2023, table 1).
[[nodiscard]] std::int64_t needed_by_weights(const Cut& cut, const workload::OperatorSet& set);

/// Elements of a token that the backward part of a section gathers again, and of those whose gradient it sums; B of an
/// element that is gathered, 0: as activations.
struct BesideWidths {
  std::int64_t gathered = 0, summed = 0, gathered_element = 0;
  friend auto operator<=>(const BesideWidths&, const BesideWidths&) = default;
};
/// Those of a section; nothing is gathered without sequence parallelism.
[[nodiscard]] BesideWidths beside_widths(const Cut& cut, const workload::OperatorSet& set);
/// The stream beside: the collectives of one column_backward.
[[nodiscard]] program::BlockId beside_block(program::Program& program, const Cut& cut, const BesideWidths& widths);
/// Whether there is such a stream.
[[nodiscard]] bool has_beside_stream(const Cut& cut);

}  // namespace tessera::strategy::megatron
