// What is read all along a graph, computed once: an attention mask, a table of positions. The template lets an edge
// cross one chip boundary, so that such a node would force all that read it onto two chips. It is cheap, so every chip
// that needs it makes it itself, and it is no part of the problem that is solved.
#pragma once

#include <optional>
#include <vector>

#include "problem.hpp"
#include "tessera/workload/graph.hpp"

namespace tessera::strategy::mcm {

/// The rule. A node may be replicated when it streams (no products) and reads inputs, constants and such nodes alone: a
/// copy then takes no weights and no link. It is when its readers, other such nodes passed through, lie more than
/// `spread` of the topological order apart; and with it all that it is made of.
struct ReplicationRule {
  /// 0: 2 / chips. Where readers of more than two chips' share are forced onto two, the load cannot be balanced.
  double spread = 0;
};

/// A graph as a problem, and back.
struct Reduced {
  Problem problem;                                   ///< of the nodes that are solved for, in the graph's order
  std::vector<workload::GraphNodeId> node_of;        ///< by node of the problem
  std::vector<std::optional<NodeId>> solved_as;      ///< by node of the graph; none: replicated
  std::vector<workload::GraphNodeId> replicated;     ///< ascending
  std::vector<std::vector<NodeId>> readers_of_copy;  ///< by replicated node: nodes of the problem that read it
};

/// check_graph() has nothing to object to. A graph that has no other nodes than such as could be replicated keeps them.
[[nodiscard]] Reduced reduce(const workload::Graph& graph, std::uint32_t chips, const ReplicationRule& rule = {});

/// By replicated node: the chips that have a copy, ascending.
[[nodiscard]] std::vector<std::vector<ChipId>> copies(const Reduced& reduced, const Partition& partition);

}  // namespace tessera::strategy::mcm
