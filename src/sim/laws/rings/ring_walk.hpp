// The steps of collectives round rings whose links carry nothing else: a recurrence over the moments at which their
// members enter, in the place of events. A seat posts step s + 1 when it has posted step s and has received and added
// what step s brought, and a message on links that are idle takes a constant: (max, +).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/laws/rings/ring_way.hpp"
#include "sim/laws/rings/ring_work.hpp"

namespace tessera::sim {

/// What rings are made of.
struct RingParts {
  RingShape shape;
  std::vector<std::uint32_t> senders;  ///< RingShape::senders
  std::vector<RingWay> ways;           ///< by way
  /// By slot and seat, as ways: whose link brings it what comes in that slot, as this seat sees it.
  std::vector<pdes::ComponentId> hops;
  /// By way, where replicas are folded: how far each hop and the destination are shifted from what is simulated for
  /// them, as the sender sees them.
  std::vector<std::vector<std::uint32_t>> shifts;
  /// Of a ring over ranks, those members that are here. By way: it leads from this rank, or out of it and back; its
  /// path has no links. By rank: a member with such a way, out or in, goes step by step. Both empty: all is here.
  std::vector<char> gates, real;

  [[nodiscard]] program::DeviceId sender(std::uint32_t way) const { return shape.device(way % shape.seats()); }
  [[nodiscard]] bool is_gate(std::uint32_t way) const { return !gates.empty() && gates[way] != 0; }
  [[nodiscard]] bool is_real(std::uint32_t seat) const { return !real.empty() && real[shape.rank(seat)] != 0; }
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

/// RingWork::longest
[[nodiscard]] std::optional<Time> longest(const RingParts& parts, const RingWork& work);
/// Whether what begins then cannot end beyond the range of time, so that nothing has to be checked on the way.
[[nodiscard]] bool is_in_range(Time begin, const RingWork& work);
[[nodiscard]] bool ends_in_range(const RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries);

/// By member, when all have entered. Paths are behind the last message afterwards.
[[nodiscard]] std::vector<TakenEnd> ends_of(RingParts& parts, const RingWork& work,
                                            const std::vector<RingEntry>& entries);

/// The same but for when messages leave, where all enter at the same time, and their ways and messages are alike; most
/// often they are. Nothing otherwise.
[[nodiscard]] std::optional<std::vector<TakenEnd>> even_ends(RingParts& parts, const RingWork& work,
                                                             const std::vector<RingEntry>& entries);

}  // namespace tessera::sim
