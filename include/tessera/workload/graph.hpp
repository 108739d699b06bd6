// A model as operators and the tensors that go from one to another: what strategies cut that do not think in layers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/workload/transformer.hpp"

namespace tessera::workload {

enum class TensorKind : std::uint8_t {
  input,      ///< there from the start, a batch's own
  made,       ///< by a node
  parameter,  ///< trained
  constant,   ///< of the model, not trained: statistics of a norm, tables
};

using TensorId = std::uint32_t;     ///< index into Graph::tensors
using GraphNodeId = std::uint32_t;  ///< index into Graph::nodes

struct Tensor {
  std::string name;
  TensorKind kind = TensorKind::made;
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
};

/// One operator: a product with what goes with it (bias, mask, layout), or something that streams.
struct GraphNode {
  std::string name;
  OperatorSet work;             ///< outside training, and of graphs from files, forward alone
  std::vector<TensorId> reads;  ///< operands in their order; a tensor may be several
  std::vector<TensorId> writes;

  [[nodiscard]] std::int64_t flops() const { return total_flops(work.forward); }
};

/// A tensor on its way from the node that makes it to one that reads it.
struct GraphEdge {
  GraphNodeId from = 0, to = 0;
  TensorId tensor = 0;
};

/// Nodes in the order of their source, which need not be one in which they can run. A parameter that several nodes
/// read is there once.
struct Graph {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<GraphNode> nodes;

  /// Elements of all parameters, and bytes that parameters and constants take.
  [[nodiscard]] std::int64_t parameters() const;
  [[nodiscard]] std::int64_t weight_bytes() const;
  /// Of one forward pass; multiply-add = 2.
  [[nodiscard]] std::int64_t flops() const;
  /// Datatype of all operators that use matrix units; empty: there are none, or they have several.
  [[nodiscard]] std::string product_datatype() const;
  /// In the order of the nodes that read, of each in the order of what it reads.
  [[nodiscard]] std::vector<GraphEdge> edges() const;
};

struct GraphProblem {
  std::string what;                 ///< in a line
  std::optional<GraphNodeId> node;  ///< at which one; none: the graph as a whole
};

/// What is wrong with a graph; nothing when it can run: at least one node, tensors that exist, are made by
/// one node alone or are there from the start, a name for each node, and no cycle (which is named).
[[nodiscard]] std::vector<GraphProblem> check_graph(const Graph& graph);

/// Every node behind those that it reads from, otherwise in the order of the graph. InternalError for a graph that
/// check_graph() objects to.
[[nodiscard]] std::vector<GraphNodeId> topological_order(const Graph& graph);

/// The topological order cut where a single tensor goes on: nodes of a segment read what its own nodes or the last one
/// of the segment before have made. Inputs and parameters are read anywhere.
[[nodiscard]] std::vector<std::vector<GraphNodeId>> segments(const Graph& graph);

/// Of one layer on one device, uncut or cut as `shape` says. Its input is the tensor "input"; the last node makes the
/// next layer's. With flash attention the core is one node, "attention"; otherwise "scores", "softmax" and "context".
[[nodiscard]] Graph layer_graph(const Model& model, const LayerShape& shape);
/// Embedding, all layers ("layer0.qkv", ...), norm and logits, uncut (`shape.tensor` is 1; whether a layer has experts
/// the model says). Model::extra_parameters belong to no node.
[[nodiscard]] Graph transformer_graph(const Model& model, const LayerShape& shape);
/// A forward pass of the whole model as a compiler's primitive operators, one a node: a linear with a bias is a
/// product, a broadcast and a sum, a norm some fifteen (docs/graphs.md). Words and token types are looked up by the
/// host, there is no vocabulary head, and the host gives masks and angles to each layer: nothing but the residual
/// stream goes along the graph. A model with experts has the nodes of each expert. KeyError for a sequence that the
/// model has no positions for.
[[nodiscard]] Graph lowered_graph(const Model& model, std::int64_t sequence, const std::string& datatype,
                                  std::int64_t batch = 1);

/// Several graphs as one, in their order: nodes and tensors of the one called `name` become "name/node", and none reads
/// what another one makes. Names differ.
[[nodiscard]] Graph side_by_side(const std::vector<std::pair<std::string, Graph>>& graphs);

/// For Graphviz: nodes with their FLOP and weights, edges with their bytes.
[[nodiscard]] std::string to_dot(const Graph& graph);

}  // namespace tessera::workload
