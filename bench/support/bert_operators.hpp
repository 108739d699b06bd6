// A stand-in for BERT lowered to primitive operators: 88 nodes a layer, 19 before and 6 behind, weights and constants
// no nodes; 2,137 of 24 layers. Shares of time are rough: products take nearly all of it.
#pragma once

#include <initializer_list>
#include <vector>

#include "strategy/mcm/problem.hpp"

namespace tessera::bench {

struct OperatorGraph {
  strategy::mcm::Problem problem;
  std::vector<double> times;  ///< by node, in units of a product of hidden x hidden
};

class BertOperators {
 public:
  [[nodiscard]] static OperatorGraph make(std::uint32_t layers, std::uint32_t chips) {
    BertOperators bert;
    Node x = bert.norm(bert.chain({}, 2));
    for (std::uint32_t layer = 0; layer < layers; ++layer) x = bert.layer(x);
    x = bert.add({bert.linear(bert.add({x}), 1)});
    bert.add({x});
    bert.graph_.problem.chips = chips;
    return std::move(bert.graph_);
  }

 private:
  using Node = strategy::mcm::NodeId;

  Node add(std::initializer_list<Node> sources, double time = 0.01) {
    const Node node = graph_.problem.nodes++;
    for (const Node source : sources) graph_.problem.edges.push_back({source, node});
    graph_.times.push_back(time);
    return node;
  }
  Node chain(std::initializer_list<Node> sources, int length) {
    Node node = add(sources);
    for (int i = 1; i < length; ++i) node = add({node});
    return node;
  }
  // Product, broadcast of the bias, sum.
  Node linear(Node x, double time) {
    const Node product = add({x}, time);
    return add({product, add({})});
  }
  // With casts and broadcasts: 17.
  Node norm(Node x) {
    x = add({x});
    const Node centred = add({x, chain({x}, 3)});
    const Node scaled = add({centred, chain({centred}, 6)});
    const Node weighted = add({scaled, add({})});
    return add({add({weighted, add({})})});
  }
  // 9, with casts.
  Node softmax(Node x) {
    x = add({x});
    const Node power = add({add({x, chain({x}, 2)})});
    return add({add({power, chain({power}, 2)})});
  }
  // 9 of the approximation by a hyperbolic tangent.
  Node gelu(Node x) {
    const Node cube = add({add({x, add({x})})});
    return add({add({x, chain({add({x, cube})}, 3)})});
  }
  Node heads(Node x) { return chain({linear(x, 1)}, 2); }
  Node layer(Node x) {
    const Node q = heads(x), k = heads(x), v = heads(x);
    const Node scores = add({add({q, k}, 0.12)});
    const Node masked = add({scores, chain({}, 4)});
    const Node context = chain({add({softmax(masked), v}, 0.12)}, 2);
    x = norm(add({x, linear(context, 1)}));
    return norm(add({x, linear(gelu(linear(x, 4)), 4)}));
  }

  OperatorGraph graph_;
};

}  // namespace tessera::bench
