// The numbers that a policy consists of: one array, of which each layer has a part.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/learning/layers.hpp"

namespace tessera::strategy::mcm {

/// Of the networks (section 5.1: eight GraphSAGE layers of 128, a policy of two such layers).
struct NetworkShape {
  std::uint32_t features = 0;  ///< a node
  std::uint32_t width = 128;
  std::uint32_t layers = 8;
  std::uint32_t positions = 36;  ///< along the package: the chips that it was made for
  friend bool operator==(const NetworkShape&, const NetworkShape&) = default;
};

/// Where each layer's numbers are.
struct Layout : learning::Slices {
  struct Layer {
    std::size_t self = 0, neighbours = 0, bias = 0;
  };
  explicit Layout(const NetworkShape& shape);

  NetworkShape shape;

  std::size_t input = 0, input_bias = 0;  ///< features -> h0
  std::vector<Layer> graph;               ///< GraphSAGE: width x width each, and a bias
  /// The policy's first layer, of the graph network's result and of h0; the second; and its logits.
  std::size_t first = 0, first_skip = 0, first_bias = 0, second = 0, second_bias = 0, logits = 0, logits_bias = 0;
  /// What the chips of the iteration before add to the first layer (Eq. 7): a row a position, for the node's own chip,
  /// for those of the nodes that it reads from, and of its readers.
  std::size_t own = 0, sources = 0, readers = 0;
  /// The value function: of the mean of the graph network's result and of h0.
  std::size_t value = 0, value_bias = 0;
};

/// Where learning begins: He's normal distribution, keyed; logits and value are zeros, so that each chip is as likely.
[[nodiscard]] std::vector<float> first_parameters(const Layout& layout, std::uint64_t seed);

}  // namespace tessera::strategy::mcm
