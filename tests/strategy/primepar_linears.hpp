// Proofs by execution of one linear, and of two with a ReLU between them, as an MLP has them.
#pragma once

#include "primepar_execution.hpp"

namespace tessera::strategy::primepar {

/// Two iterations: the second one's forward needs W and dW where the first one's backward and gradient left them.
/// Every device has to end with what the whole matrices give, and to receive what is derived.
void train_linear(const Slices& slices, Carrier& carrier);

/// What the whole matrices of two linears give.
struct ExpectedMlp {
  ExpectedMlp(const Operator& fc1, const Operator& fc2);
  Matrix input, weight1, weight2, output1, hidden, output2, gradient2, hidden_gradient, gradient1;
};

/// Forward, backward and gradient of both, and between them what the derived redistributions carry; as train_linear().
void train_mlp(const Slices& first, const Slices& second, const ExpectedMlp& expected, Carrier& carrier);

}  // namespace tessera::strategy::primepar
