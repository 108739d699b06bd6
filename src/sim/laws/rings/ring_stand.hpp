// Where a collective stands whose seats have all taken as many steps.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/laws/rings/ring_walk.hpp"

namespace tessera::sim {

struct RingStand {
  std::uint32_t steps = 0;           ///< that all have posted and taken; 0: the rest is empty
  std::uint32_t pass = 0, left = 0;  ///< of the next one: its pass, and steps of that
  std::vector<Moment> at;            ///< by seat: what came has been added
  std::vector<Time> waited_until;    ///< by seat: the latest join of those on whom it depends
  std::vector<std::uint32_t> kinds;  ///< by slot of the pass and seat: what is sent next
};

/// Where all stand when they have taken the most steps, but for the last one, that are over everywhere before `end`.
/// All have entered, and the ways are at their marks, without guests; they are behind those steps afterwards.
[[nodiscard]] RingStand stand_before(Time end, RingParts& parts, const RingWork& work,
                                     const std::vector<RingEntry>& entries);

}  // namespace tessera::sim
