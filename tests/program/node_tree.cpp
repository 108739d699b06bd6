// Double binary trees, by hand and by what they promise.
#include <bit>
#include <catch2/catch.hpp>

#include "../../src/program/collectives/node_tree.hpp"

namespace tessera::program {
namespace {

std::vector<std::uint32_t> children(std::uint32_t nodes, std::uint32_t node, bool second = false) {
  const NodeTree at = node_tree(nodes, node, second);
  return {at.children.begin(), at.children.end()};
}

/// Steps from a node up to the root.
std::uint32_t depth(std::uint32_t nodes, std::uint32_t node, bool second) {
  std::uint32_t steps = 0;
  for (NodeTree at = node_tree(nodes, node, second); at.parent; at = node_tree(nodes, *at.parent, second)) ++steps;
  return steps;
}

}  // namespace

TEST_CASE("the tree over eight nodes, and its mirror image") {
  // 0 has 4, which has 2 and 6; these have 1 and 3, 5 and 7.
  CHECK(children(8, 0) == std::vector<std::uint32_t>{4});
  CHECK(children(8, 4) == std::vector<std::uint32_t>{2, 6});
  CHECK(children(8, 2) == std::vector<std::uint32_t>{1, 3});
  CHECK(children(8, 6) == std::vector<std::uint32_t>{5, 7});
  CHECK(children(8, 7).empty());
  CHECK(children(8, 7, true) == std::vector<std::uint32_t>{3});
  CHECK(children(8, 3, true) == std::vector<std::uint32_t>{5, 1});
}

TEST_CASE("both trees reach all nodes in log2 steps, and a node is inside one of them") {
  for (std::uint32_t nodes = 1; nodes <= 65; ++nodes) {
    for (std::uint32_t node = 0; node < nodes; ++node) {
      int inside = 0;
      for (const bool second : {false, true}) {
        CHECK(depth(nodes, node, second) <= static_cast<std::uint32_t>(std::bit_width(nodes - 1)));
        for (const std::uint32_t child : children(nodes, node, second))
          CHECK(node_tree(nodes, child, second).parent == node);
        if (const auto parent = node_tree(nodes, node, second).parent) {
          const auto siblings = children(nodes, *parent, second);
          CHECK(std::ranges::count(siblings, node) == 1);
        }
        inside += children(nodes, node, second).size() == 2 ? 1 : 0;
      }
      CHECK(inside <= 1);
    }
  }
}

}  // namespace tessera::program
