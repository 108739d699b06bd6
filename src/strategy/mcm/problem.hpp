// What is cut over the chips of a package, without anything that constraints do not need: "A Transferable Approach for
// Partitioning Machine Learning Models on Multi-Chip-Modules" (the paper of this folder), section 3.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::strategy::mcm {

using NodeId = std::uint32_t;
using ChipId = std::uint16_t;

/// More chips than any package has. Sets of chips (chip_set.hpp) have this many bits.
inline constexpr std::uint32_t max_chips = 256;

struct Edge {
  NodeId from = 0, to = 0;
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// G = (V, E) and D = {0 .. chips-1}. Edges in any order; one may be there several times.
struct Problem {
  std::uint32_t nodes = 0;
  std::uint32_t chips = 0;
  std::vector<Edge> edges;
};

/// f: the chip of each node.
using Partition = std::vector<ChipId>;

/// InputError, in a line: no node, no chip, more than max_chips, an edge to a node that is not there, a cycle.
void check_problem(const Problem& problem);

/// Every node behind those that it reads from, otherwise by number. InputError where there is a cycle.
[[nodiscard]] std::vector<NodeId> topological_order(const Problem& problem);

}  // namespace tessera::strategy::mcm
