#include "node_tree.hpp"

#include <bit>

namespace tessera::program {
namespace {

NodeTree first_tree(std::uint32_t nodes, std::uint32_t node) {
  NodeTree at;
  if (node == 0) {
    if (nodes > 1) at.children.push_back(std::bit_ceil(nodes) / 2);
    return at;
  }
  const std::uint32_t bit = node & (~node + 1);
  const std::uint32_t up = (node ^ bit) | bit << 1U;
  at.parent = up < nodes ? up : node ^ bit;
  if (bit == 1) return at;
  at.children.push_back(node - bit / 2);
  for (std::uint32_t below = bit / 2; below > 0; below /= 2) {
    if (node + below >= nodes) continue;
    at.children.push_back(node + below);
    break;
  }
  return at;
}

}  // namespace

NodeTree node_tree(std::uint32_t nodes, std::uint32_t node, bool second) {
  if (!second) return first_tree(nodes, node);
  const bool turns = nodes % 2 == 0;
  const auto there = [&](std::uint32_t one) { return turns ? nodes - 1 - one : (one + nodes - 1) % nodes; };
  const auto back = [&](std::uint32_t one) { return turns ? nodes - 1 - one : (one + 1) % nodes; };
  NodeTree at = first_tree(nodes, there(node));
  if (at.parent) at.parent = back(*at.parent);
  for (std::uint32_t& child : at.children) child = back(child);
  return at;
}

}  // namespace tessera::program
