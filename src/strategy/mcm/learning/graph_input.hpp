// A graph as the networks see it: numbers of each node, and its neighbours.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../package.hpp"

namespace tessera::strategy::mcm {

/// Lists of nodes, by node.
struct NodeLists {
  std::vector<std::uint32_t> begin;  ///< and one more
  std::vector<NodeId> all;
  [[nodiscard]] std::span<const NodeId> operator[](NodeId node) const {
    return {all.data() + begin[node], all.data() + begin[node + 1]};
  }
};

struct GraphInput {
  std::uint32_t nodes = 0, chips = 0, features = 0;
  std::vector<float> values;               ///< nodes x features, each about -2 .. 2
  NodeLists sources, readers, neighbours;  ///< none twice; neighbours: both
  /// nodes x chips, added to a policy's logits: what it begins with; empty: each chip is as likely.
  std::vector<float> prior;
};

/// What the features are, in a word; another set of them has another name, which a policy's file keeps.
[[nodiscard]] const std::string& feature_set();

/// Features of the nodes of the problem, relative to the graph and the package, so that they mean the same on another
/// one: places along the graph (by nodes, by time, by weights, by longest paths), also as sines and cosines; the node's
/// own time, weights and output as parts of a chip's share; degrees; kind; size of the graph.
[[nodiscard]] GraphInput graph_input(const Package& package);

}  // namespace tessera::strategy::mcm
