// Double binary trees over nodes: each node has children in one of two trees at most, so both together use its links
// both ways. Source: Sanders, Speck and Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan",
// Parallel Computing 35(12), 2009; as NCCL builds them.
#pragma once

#include <boost/container/static_vector.hpp>
#include <cstdint>
#include <optional>

namespace tessera::program {

/// A node's place in one of the trees.
struct NodeTree {
  std::optional<std::uint32_t> parent;  ///< none: the root
  boost::container::static_vector<std::uint32_t, 2> children;
};
/// In-order: odd nodes are leaves of the first tree. The second one is the first with nodes turned round, or for an odd
/// number of them moved on by one.
[[nodiscard]] NodeTree node_tree(std::uint32_t nodes, std::uint32_t node, bool second);

}  // namespace tessera::program
