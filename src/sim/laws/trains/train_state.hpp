// All that changes in a port that serves trains of packets.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/laws/trains/merging.hpp"
#include "sim/laws/trains/queue_peak.hpp"
#include "sim/laws/trains/service.hpp"
#include "sim/lazy.hpp"
#include "sim/network/port.hpp"

namespace tessera::sim {

/// Of a run of several streams or messages, the packets of one of them, as they are announced.
struct PlannedShare {
  std::uint32_t of = 0;  ///< in TrainWork::streams, or its place in TrainWork::own
  bool own = false;
  std::uint32_t generation = 0;
  bool final = false;  ///< ends with the last packet of the message
  PacketTimes out;
};

inline constexpr std::uint32_t all_together = 1U << 31U;
inline constexpr std::uint32_t most_singles = 64;  ///< make no rounds: a longer run of them would save few events
inline constexpr std::uint32_t few_together = 8;   ///< streams whose plans may be taken back without harm

/// Of a share of own packets among passing ones.
struct PlannedMix {
  PacketTimes turns;  ///< one more than the share had packets at first
  PortTurn tie;       ///< its time does not count
};

/// An own message that takes turns with others. What it sends follows from its turn (TrainPort::turn_share).
struct TurnTaker {
  std::uint32_t place = 0;  ///< in TrainWork::own
  std::uint32_t generation = 0;
};

/// Own messages that take turns, a packet each.
struct PlannedTurns {
  BusyPeriod period;                     ///< in which they are served
  std::vector<TurnTaker> line;           ///< in the order of their turns
  std::uint32_t rounds = 0;              ///< of whole packets; then one more, maybe not of all takers:
  std::vector<std::int64_t> last_bytes;  ///< B of that round up to a packet, with it
  std::uint32_t kept = 0;                ///< of these packets, the first ones
  std::uint32_t told = 0;                ///< of the takers, the first ones have been announced

  [[nodiscard]] std::uint32_t takers() const { return static_cast<std::uint32_t>(line.size()); }
};

/// Of several streams or messages.
struct PlannedTogether {
  std::vector<PlannedShare> shares;  ///< but of own messages that take turns
  PlannedTurns turns;
  std::vector<PlannedMix> among;   ///< a share each, where the own message is among passing streams
  std::vector<MergingFlow> flows;  ///< streams ...
  PacketRounds rounds;             ///< ... in these
  Time next = never;               ///< when the next packet of any comes
  Time busy = 0;                   ///< time in service
  PortTurn last_turn;              ///< of the last packet
  // Of streams, for the longest queue: see Merged.
  std::uint32_t rounds_without_pause = 0;
  std::int64_t burst_queue = 0;
  std::vector<SinglePacket> singles;
};

/// What is planned: the next packets of one stream, of one own message, or of several.
struct TrainRun {
  bool active = false;
  bool own = false;
  bool final = false;    ///< ends with the last packet of the message
  bool goes_on = false;  ///< own: which another one follows that belongs to it
  bool to_destination = false;
  bool awaited = false;      ///< its end is told at its time
  std::uint32_t stream = 0;  ///< in TrainWork::streams
  MessageName name;
  std::uint32_t generation = 0;
  machine::NodeId destination = 0;
  std::int64_t bytes = 0;  ///< of the whole message
  Time offered = 0;        ///< own: turn of the first packet
  /// Of several only what is behind it and the time of the last packet count.
  Service service;
  Lazy<PlannedTogether> apart;  ///< of several

  [[nodiscard]] PlannedTogether& together() { return apart.make(); }
  [[nodiscard]] const PlannedTogether& together() const { return apart.get(); }
  [[nodiscard]] bool takes_turns() const { return own && apart.is_made() && !apart.get().turns.line.empty(); }
  [[nodiscard]] bool has_shares() const { return own ? takes_turns() : apart.is_made() && !apart.get().shares.empty(); }
  [[nodiscard]] bool is_mixed() const { return apart.is_made() && !apart.get().among.empty(); }
};

/// What a port is about: all but what is left of it when nothing is in it.
struct TrainWork {
  /// Packets that come from another node: what counts of their Segment. A port may have a thousand.
  struct Stream {
    PacketTimes times;  ///< of those that have not been served
    Time waited_until = 0;
    MessageName name;
    std::uint32_t generation = 0;
    machine::NodeId destination = 0;
    machine::LinkId link = 0;
    pdes::ComponentId from = 0;
    std::uint32_t ordinal = 0;
    std::uint32_t served = 0;  ///< packets
    bool final = false;
    std::int64_t bytes = 0;  ///< of the whole message
  };
  struct Waiting {
    [[no_unique_address]] PortTurn turn;  ///< of its next packet; in 24 B with the number
    std::uint32_t stream = 0;
  };

  TrainRun run;
  Injector own;
  std::vector<TimedAmend> amends;  ///< of this instant: what is planned next may take them along
  std::vector<Waiting> waiting;    ///< heap, the next turn first; without the stream of the run
  std::vector<Stream> streams;
  std::vector<std::uint32_t> unused_streams;
  std::uint32_t next_ordinal = 0;
  std::uint32_t most_together = all_together;  ///< streams to plan next
  bool stops_at_gaps = false;                  ///< a run ends where the server would wait for a packet to come
  Time came_at = -1;                           ///< when streams came last ...
  std::uint32_t came_then = 0;                 ///< ... and how many of them
  Time own_left_at = -1;                       ///< when an own packet left last that had taken some time
  ShortEnds short_ends;                        ///< before TrainState::busy
};

struct TrainState final : PortState {
  static constexpr std::uint32_t no_stream = ~std::uint32_t{0};
  Lazy<TrainWork> work;
  BusyPeriod busy;  ///< after the last packet that can no longer change
  std::uint32_t next_generation = 0;
  std::uint32_t token = 0;
  Time due = never;  ///< when it has to go on by itself
  Time call_at = 0;  ///< the call back under way, which may come too early
  bool call_pending = false;
  bool reserved =
      false;  ///< by a ring whose messages are not simulated one by one (laws/rings): it is broken off first
  LinkCounts counts;
};

}  // namespace tessera::sim
