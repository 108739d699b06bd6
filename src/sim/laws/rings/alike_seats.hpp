// Seats of a ring that post at the same times: those that are alike, and to which seats send that are, and so on.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/laws/rings/ring_walk.hpp"

namespace tessera::sim {

/// Of seats that are alike one is walked along.
struct AlikeSeats {
  std::vector<std::uint32_t> walked;  ///< seats
  std::vector<std::uint32_t> place;   ///< by seat: of the one that is like it, in `walked`
  [[nodiscard]] bool is_all() const { return walked.size() == place.size(); }
};

/// The coarsest parts of the seats in which all enter at the same time, have ways, messages and additions that are
/// alike, and get what comes in a slot from seats of one part: by induction over the steps, all of a part post and
/// receive at the same times. All seats by themselves where few are alike.
[[nodiscard]] AlikeSeats alike_seats(const RingParts& parts, const RingWork& work,
                                     const std::vector<RingEntry>& entries);

}  // namespace tessera::sim
