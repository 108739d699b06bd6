// The steps of collectives round rings whose links carry nothing else: a recurrence over the moments at which their
// members enter, in the place of events. A seat posts step s + 1 when it has posted step s and has received and added
// what step s brought, and a message on links that are idle takes a constant: (max, +).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/rings/port_chain.hpp"
#include "sim/rings/ring_path.hpp"
#include "sim/rings/ring_work.hpp"

namespace tessera::sim {

/// What rings are made of.
struct RingParts {
  RingShape shape;
  std::vector<std::uint32_t> senders;  ///< RingShape::senders
  std::vector<RingPath> paths;         ///< by way
  /// By slot and seat, as ways: whose link brings it what comes in that slot, as this seat sees it.
  std::vector<pdes::ComponentId> hops;
  /// By way, where replicas are folded: how far each hop and the destination are shifted from what is simulated for
  /// them, as the sender sees them.
  std::vector<std::vector<std::uint32_t>> shifts;

  [[nodiscard]] program::DeviceId sender(std::uint32_t way) const { return shape.device(way % shape.seats()); }
  [[nodiscard]] program::DeviceId receiver(std::uint32_t way) const { return shape.next[way]; }
  /// The way in the slot of this one that leads to where it begins.
  [[nodiscard]] std::uint32_t way_before(std::uint32_t way) const {
    return shape.way(way / shape.seats(), senders[way]);
  }
};

struct RingEntry {
  Moment at{never, 0};  ///< `never`: not yet
  Time joined = 0;      ///< see Stream's CollectiveRun::waited_until
};

struct RingEnd {
  Moment at;       ///< the last step is over but for its addition
  Time clock = 0;  ///< with it
  Time left = 0;   ///< the last message has left the device
};

/// Whether it cannot end beyond the range of time, so that nothing has to be checked on the way.
[[nodiscard]] bool ends_in_range(const RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries);

/// By member, when all have entered. Paths are behind the last message afterwards.
[[nodiscard]] std::vector<RingEnd> ends_of(RingParts& parts, const RingWork& work,
                                           const std::vector<RingEntry>& entries);

/// The same but for when messages leave, where all enter at the same time, and their ways and messages are alike; most
/// often they are. Nothing otherwise.
[[nodiscard]] std::optional<std::vector<RingEnd>> even_ends(RingParts& parts, const RingWork& work,
                                                            const std::vector<RingEntry>& entries);

/// Where a seat stands at a moment.
struct RingStanding {
  std::uint32_t posted = 0;  ///< steps
  std::uint32_t taken = 0;   ///< steps whose messages have come and are being added, or have been
  Time waited_until = 0;     ///< CollectiveRun::waited_until
  Moment next;               ///< taken == posted: when it posts the next one, or has ended
  Time ended = 0;            ///< taken == all: the last addition is over
  struct Slot {
    bool awaits = false;             ///< taken < posted: this message has not come
    std::vector<Time> early;         ///< of messages that have come before they are asked for: their waited_until
    std::vector<Time> on_their_way;  ///< of those that it has posted and that have not come: their waited_until
    std::uint32_t tied = 0;          ///< of those on their way, the ones that come by the event itself
  };
  std::array<Slot, most_slots> slots;
};

/// By seat, what has taken place before an event, and by it where a seat waits for that. (What it does not wait for yet
/// may come behind a message of before, which takes as little time.) Seats post in it, but for those `to_come`; empty:
/// none. Paths are behind what has been posted (RingPath::take_last).
[[nodiscard]] std::vector<RingStanding> standings_at(const Moment& event, const std::vector<bool>& to_come,
                                                     RingParts& parts, const RingWork& work,
                                                     const std::vector<RingEntry>& entries);

}  // namespace tessera::sim
