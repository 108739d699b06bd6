// What mixers with a state have in common: a short causal convolution before it, and states of heads that a sequence
// carries along.
#pragma once

#include "mixer.hpp"

namespace tessera::workload::layer {

/// Sequences in chunks: numbers of all sequences of a micro-batch.
struct Chunks {
  explicit Chunks(const Context& context);

  std::int64_t length = 0;  ///< tokens of one; fewer where a sequence has no more
  std::int64_t count = 0;
  std::int64_t square = 0;  ///< pairs of tokens of the same chunk
  std::int64_t causal = 0;  ///< those whose second token does not come after the first one
};
/// Pairs of tokens of the same chunk for a token, on average and rounded up: a dimension of products.
[[nodiscard]] std::int64_t half_of(const Chunks& chunks);

/// A kernel on the matrix units whose operands are shared between products, or have a precision of their own.
struct SharedProduct {
  std::string name;
  std::int64_t batch = 1, m = 1, n = 1, k = 1;
  std::int64_t flops = 0;
  std::int64_t bytes_read = 0, bytes_written = 0;

  [[nodiscard]] Operator on(const Context& context) const;
};

constexpr std::int64_t fp32 = 4;  // B

/// A column-parallel linear layer that makes all that a mixer needs of a token: MixerKind::input_columns.
[[nodiscard]] OperatorSet input_section(const Context& context);
/// Weights of that and of the projection behind the mixer.
void add_projection_weights(const Context& context, ParameterShare& share);

/// A causal convolution of each channel by itself with its activation (`causal_conv1d`), over all channels of the rank.
void add_convolution(const Context& context, std::int64_t channels, OperatorSet& set);
/// The same once more for the backward pass, which keeps its input alone.
[[nodiscard]] Operator convolution_again(const Context& context, std::int64_t channels);
/// Its gradients: of its input, behind all others, and of its weights.
void add_convolution_gradient(const Context& context, std::int64_t channels, OperatorSet& set);
/// It with its gradients.
[[nodiscard]] OperatorSet convolution_section(const Context& context, std::int64_t channels);
[[nodiscard]] std::int64_t convolution_parameters(const LayerFields& kind, std::int64_t channels);

/// Elements of the states of a sequence on this rank.
[[nodiscard]] std::int64_t state_elements(const Context& context);
/// B of a sequence: the last tokens that the convolution sees, and the states, an element of which has so many B.
[[nodiscard]] std::int64_t cached_state(const Context& context, std::int64_t channels, std::int64_t state_element);
/// A prompt leaves both where generation finds them: the states in FP32, as the scan makes them, are converted.
void add_state_copy(const Context& context, std::int64_t channels, std::int64_t state_element, OperatorSet& set);
/// A generated token: states are read and written where they stand, along with `inputs` and `outputs` elements a token.
[[nodiscard]] Operator state_update(const Context& context, std::int64_t state_element, std::int64_t inputs,
                                    std::int64_t outputs);
/// An RMS norm of what the states give, multiplied by the activation of a gate beside it.
void add_gated_norm(const Context& context, std::int64_t parameters, OperatorSet& set);

/// FLOP of a recurrence with so many multiplications and additions for each element of the states.
[[nodiscard]] Int128 recurrence_flops(const LayerFields& kind, std::int64_t tokens, std::int64_t operations);

}  // namespace tessera::workload::layer
