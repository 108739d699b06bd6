// A group that carries out ring collectives, and those that are under way.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/execution/channel.hpp"
#include "sim/laws/rings/ring_laws.hpp"

namespace tessera::sim {

/// A collective that some members have entered and not all have left. A law: none of its messages is simulated.
struct RingLaws::Run {
  struct Member {
    std::uint32_t stream = 0;
    bool is_whole = false;  ///< broken off when this member had nothing left to do
  };
  /// Of a way: who says that it sends.
  struct Sender {
    TakenStream stream;
    std::uint32_t first_message = 0;  ///< its number
  };
  std::uint32_t index = 0;  ///< in Program::collectives
  bool is_law = false;
  std::uint32_t entered = 0, left = 0;
  // Of a law:
  const RingWork* work = nullptr;
  Time waited_until = 0;  ///< the latest join
  std::vector<RingEntry> entries;
  std::vector<Member> members;
  std::vector<Sender> senders;  ///< by way
  std::vector<TakenEnd> ends;   ///< when all have entered
  std::uint32_t guests = 0;     ///< packets of others that have come among its messages
  // Of a law over ranks, which has no `ends`:
  std::unique_ptr<RingWaves> waves;
  std::vector<std::vector<RingPost>> posts;  ///< RingInputs
  std::vector<std::uint32_t> received;       ///< the same
  [[nodiscard]] RingInputs inputs() const { return {entries, posts, received}; }
};

/// The ways round some devices, for all groups of these.
struct RingLaws::Track {
  RingParts parts;
  bool is_usable = false;         ///< on this rank, or with members that are; on links that no two of its ways share
  Ring* owner = nullptr;          ///< whose collectives go on it as laws; null: nobody's
  std::vector<char> is_reserved;  ///< by way: it has its ports for itself
};

/// One of the collectives of a group.
struct RingLaws::Work {
  std::uint32_t index = 0;  ///< in Program::collectives
  RingWork work;
  Track* track = nullptr;  ///< null: step by step
};

struct RingLaws::Ring {
  program::GroupId group = 0;
  std::uint32_t size = 0;             ///< of members that are simulated
  std::vector<std::uint32_t> places;  ///< by rank: which of these; empty: all are
  bool is_part = false;               ///< others are on other ranks
  bool is_usable = true;
  Track* track = nullptr;         ///< of those that are under way, or of the last ones
  const Track* met_on = nullptr;  ///< RingMeetings know of it
  std::vector<std::unique_ptr<Work>> works;
  std::size_t latest = 0;                  ///< that was asked for, of these
  std::vector<std::uint32_t> begun, left;  ///< collectives, by member
  /// At most two: nobody ends one before all have entered it. Either all are laws, on the track, or none is.
  std::vector<Run> runs;
  std::uint32_t first = 0;       ///< number of the first of them
  std::uint32_t broken_off = 0;  ///< how often

  [[nodiscard]] bool is_reserved() const { return track != nullptr && track->owner == this; }
  [[nodiscard]] std::vector<std::uint32_t> simulated() const;  ///< ranks, where not all are
  [[nodiscard]] std::uint32_t place(std::uint32_t rank) const { return places.empty() ? rank : places[rank]; }
  [[nodiscard]] std::uint32_t channel(std::uint32_t way) const {
    return collective_channel(group, track->parts.shape.lanes[way]);
  }
};

}  // namespace tessera::sim
