// The steps of a ring collective whose links carry nothing else: a recurrence over the moments at which its members
// enter, in the place of events. A member posts step s + 1 when it has posted step s and has received and added what
// step s brought, and a message on links that are idle takes a constant: (max, +).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/rings/port_chain.hpp"
#include "sim/rings/ring_path.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

/// What a ring is made of. Member i sends to the one behind it in the circle over paths[i].
struct RingParts {
  std::vector<program::DeviceId> members;
  std::vector<RingPath> paths;
  std::vector<pdes::ComponentId> hops;  ///< by member: the component whose link brings it its messages
};

/// A collective that a ring carries out.
struct RingWork {
  program::CollectiveKind kind = program::CollectiveKind::all_reduce;
  Bytes bytes{};
  Bytes element{};
  std::uint32_t steps = 0;
  /// By member: picoseconds to add a chunk of the larger kind, of the smaller one, and no bytes.
  std::vector<std::array<Time, 3>> additions;
  std::vector<std::int64_t> sent;  ///< B, by member, in all steps
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

/// Where a member stands at a moment.
struct RingStanding {
  std::uint32_t posted = 0;        ///< steps
  std::uint32_t taken = 0;         ///< steps whose message has come and is being added, or has been
  Time waited_until = 0;           ///< CollectiveRun::waited_until
  Moment next;                     ///< taken == posted: when it posts the next one, or has ended
  std::vector<Time> early;         ///< of messages that have come before they are asked for: their waited_until
  std::vector<Time> on_their_way;  ///< of those that it has posted and that have not come: their waited_until
};

/// By member, what has taken place before `end`. Paths are behind what has been posted (RingPath::take_last).
[[nodiscard]] std::vector<RingStanding> standings_at(const Moment& end, RingParts& parts, const RingWork& work,
                                                     const std::vector<RingEntry>& entries);

/// B that a member sends in its first `steps` steps; it receives what the one before it sends.
[[nodiscard]] std::int64_t bytes_sent(const RingWork& work, std::uint32_t members, std::uint32_t member,
                                      std::uint32_t steps);
/// B that it adds in a step.
[[nodiscard]] std::int64_t bytes_added(const RingWork& work, std::uint32_t members, std::uint32_t member,
                                       std::uint32_t step);

}  // namespace tessera::sim
