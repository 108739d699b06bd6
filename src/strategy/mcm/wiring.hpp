// A problem's graph as solvers walk it: nodes by their place in a topological order, neighbours side by side in memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "problem.hpp"

namespace tessera::strategy::mcm {

/// Index into the topological order.
using Place = std::uint32_t;

/// For each place a list of others.
struct Neighbours {
  std::vector<std::uint32_t> begin;  ///< by place, and one more
  std::vector<Place> all;
  [[nodiscard]] std::span<const Place> operator[](Place place) const {
    return {all.data() + begin[place], all.data() + begin[place + 1]};
  }
};

struct Wiring {
  std::uint32_t nodes = 0, chips = 0;
  std::vector<NodeId> order;    ///< the node at each place
  std::vector<Place> place_of;  ///< of each node
  Neighbours readers, sources;  ///< none twice
  /// By place: how many levels of chips it can be above the lowest, where an edge climbs one at most and no level is
  /// skipped. An upper bound, at most chips - 1.
  std::vector<std::uint32_t> climb;
};

/// InputError as check_problem().
[[nodiscard]] Wiring make_wiring(const Problem& problem);

}  // namespace tessera::strategy::mcm
