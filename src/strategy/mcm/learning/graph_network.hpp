// GraphSAGE (Hamilton et al., NIPS 2017, Algorithm 1 with the mean of all neighbours): what a node is, from its own
// features and those of the nodes up to eight edges away.
#pragma once

#include <vector>

#include "graph_input.hpp"
#include "parameters.hpp"
#include "tessera/base/learning/kernels.hpp"

namespace tessera::strategy::mcm {

/// All of one pass over one graph: nodes x width each. Memory stays from pass to pass.
template <class Scalar>
struct GraphPass {
  using Values = std::vector<Scalar>;
  Values features;
  std::vector<Values> hidden;  ///< h0 .. h_layers
  std::vector<Values> means;   ///< of the neighbours, by layer
  std::vector<Values> scale;   ///< by layer and node: what the rectified row was divided by; 0: the row is dead

  [[nodiscard]] const Values& first() const { return hidden.front(); }
  [[nodiscard]] const Values& last() const { return hidden.back(); }
};

/// h0 = relu(x W + b); h_l = sqrt(width) u / |u| with u = relu(h_{l-1} W_self + mean(h_{l-1} of neighbours)
/// W_neighbours
/// + b_l). The factor keeps values at about 1.
template <class Scalar>
class GraphNetwork {
 public:
  /// All of it outlives this.
  GraphNetwork(const Layout& layout, const learning::Kernels<Scalar>& kernels) : layout_(layout), kernels_(kernels) {}

  void forward(const GraphInput& graph, const Scalar* parameters, GraphPass<Scalar>& pass) const;
  /// Adds to `gradient` (all parameters). `of_last`, `of_first`: the loss by h_layers and by h0, which are used up.
  void backward(const GraphInput& graph, const Scalar* parameters, const GraphPass<Scalar>& pass,
                std::vector<Scalar>& of_last, std::vector<Scalar>& of_first, Scalar* gradient) const;

 private:
  const Layout& layout_;
  const learning::Kernels<Scalar>& kernels_;
};

}  // namespace tessera::strategy::mcm
