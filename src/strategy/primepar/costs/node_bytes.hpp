// What one operator of a layer takes of the fullest device's memory under a partition.
#pragma once

#include "node_costs.hpp"

namespace tessera::strategy::primepar {

/// In bytes.
struct NodeBytes {
  std::int64_t held = 0;     ///< weights, gradients, and what is kept of all micro-batches until their backward pass
  std::int64_t freed = 0;    ///< of that, what the backward pass of one micro-batch frees
  std::int64_t again = 0;    ///< what recomputation makes again, until the layer's backward pass is over
  std::int64_t buffers = 0;  ///< second ones, while the node is at work
};

[[nodiscard]] NodeBytes node_bytes(const Graph& graph, std::size_t node, const CutNode& cut, const Passes& passes);

}  // namespace tessera::strategy::primepar
