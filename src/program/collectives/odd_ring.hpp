// A cycle over all but one of an odd number of members, and where the one that is left out joins it.
#pragma once

#include <array>
#include <memory>

#include "own_links.hpp"

namespace tessera::program {

struct OddRing final : GroupPlan {
  std::vector<std::uint32_t> order;      ///< ranks along the cycle: of two members one is before and behind the other
  std::vector<std::uint32_t> positions;  ///< on the cycle, by rank; that of the one left out says nothing
  std::uint32_t left_out = 0;            ///< rank
  /// Positions on the cycle of the members that the one left out is linked to: for what goes round forwards, and for
  /// what goes backwards. Two where it has two such neighbours, else one.
  std::array<std::uint32_t, 2> joins{};
};

/// Of an odd number of members, three at least: all edges are own links both ways. Members with two neighbours are left
/// out sooner than those with one. Nothing where there is none; in groups more than some ten dies wide perhaps although
/// there is one.
[[nodiscard]] std::shared_ptr<const OddRing> odd_ring_of(const Group& group, const machine::Machine& machine);

}  // namespace tessera::program
