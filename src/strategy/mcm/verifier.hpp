// The static constraints as the paper writes them (section 3, Equations 2 to 4). Shares no code with the solver, whose
// results it judges.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "problem.hpp"

namespace tessera::strategy::mcm {

/// The first violation, in words; nothing when the partition is valid. In this order:
/// - it has a chip for each node, and they are chips of the package;
/// - Equation 2, acyclic dataflow: f(u) <= f(v) of each edge;
/// - Equation 3, no skipped chip: below a chip that is used all are. Those at the end may stay empty;
/// - Equation 4, triangles: where an edge goes from one chip to another, no longer path of chips does, delta = 1.
///   Pairs of chips without a path between them do not count: with a delta of 0 for them the equations would
///   contradict each other. The inequality itself holds for any longest paths: two of them laid end to end are a path.
/// Nodes are named by their number, or by `name`.
[[nodiscard]] std::optional<std::string> find_violation(const Problem& problem, const Partition& partition);
[[nodiscard]] std::optional<std::string> find_violation(const Problem& problem, const Partition& partition,
                                                        const std::function<std::string(NodeId)>& name);

}  // namespace tessera::strategy::mcm
