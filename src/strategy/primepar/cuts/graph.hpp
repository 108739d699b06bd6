// The operators that PrimePar partitions, and the tensors that go from one to another: a transformer layer, or its MLP
// alone, whose timelines the slides show.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "redistribution.hpp"
#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy::primepar {

/// An operator and what it does beside its product. Work and bytes are those of the whole, uncut; a device has its
/// share of O.
struct Node {
  Operator op;
  /// By phase: biases, rotations, and all of an operator that streams; in the backward phase, before the product.
  std::array<std::vector<workload::Operator>, 3> streams;
  bool keeps_input = true;          ///< I is kept from forward to gradient, ...
  std::int64_t kept = 0;            ///< ... and so many bytes more (masks)
  std::int64_t parameter_sets = 0;  ///< so many numbers for each element of W; 0: W is an activation, or none
};

/// O of one node, or a part of it, is an operand of another.
struct Edge {
  int from = 0, to = 0;  ///< nodes
  Shared shared;
  bool to_next_layer = false;
};

/// Nodes in the order in which they run forward.
struct Graph {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::string datatype;
  std::int64_t element = 2;  ///< B

  /// Edges that bring what the layer before left; none in a graph without one.
  [[nodiscard]] std::vector<const Edge*> edges_from_before() const;
  /// Whether the node reads what the layer, or the graph alone, is given.
  [[nodiscard]] bool reads_input(std::size_t node) const;
};

/// "layer" or "mlp" of a dense model: of workload::layer_graph() all nodes, or these.
[[nodiscard]] Graph make_graph(const std::string& name, const workload::Model& model, const Workload& workload);
[[nodiscard]] const std::vector<std::string>& graph_names();

}  // namespace tessera::strategy::primepar
