// A device's memory bandwidth as one server: flows take turns, a packet each. The physics of [cost] memory_traffic =
// "shared" (docs/simulation.md).
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/network/busy_period.hpp"
#include "tessera/base/time.hpp"

namespace tessera::sim {

/// Whose bytes they are. Of flows that come at the same time the one with the least name has the first turn.
struct MemoryUser {
  enum class Kind : std::uint8_t { operators, addition, read, written };
  Kind kind = Kind::operators;
  std::uint64_t key = 0;  ///< of an addition its stream; of messages their channel and the other device
  auto operator<=>(const MemoryUser&) const = default;
};

/// Bytes that are moved one packet after another: what an operator reads and writes, or one end of a message.
struct MemoryFlow {
  MemoryUser of;
  std::int64_t bytes = 0;  ///< that are left, those of a packet in service included; more than 0
  Time came = 0;
  bool is_new = true;  ///< it has had no turn yet
};

/// Serves one packet at a time. When it is free, and all of that picosecond has happened, the flow at the front of the
/// line sends one: those that were in line before, then the one whose packet has just been served, then those that come
/// at this time. A packet is over at start of the busy period + ceil(bytes since then / rate).
///
/// Nothing happens by itself: whoever asks says what time it is, which never goes back.
class MemoryServer {
 public:
  /// B/s and B, both more than 0. `takes_rounds`: rounds in which each flow has a turn are served at once, by a closed
  /// form; what comes out is the same.
  MemoryServer(std::int64_t bandwidth, std::int64_t packet, bool takes_rounds)
      : rate_(bandwidth), packet_(packet), takes_rounds_(takes_rounds) {}

  /// A flow comes at `now`. Flows that end by then have been taken by next_until(now).
  void add(Time now, const MemoryUser& of, std::int64_t bytes);
  struct End {
    MemoryUser of;
    Time at = 0;
  };
  /// The flow that ends first if none comes; none: nothing is in line.
  [[nodiscard]] std::optional<End> next_end() const;
  /// Serves up to the end of that flow, if it is no later than `until`, and takes it out.
  [[nodiscard]] std::optional<End> end_until(Time until);

  /// The busy period when all that is in line has been served.
  [[nodiscard]] BusyPeriod busy_behind_all() const;
  [[nodiscard]] bool is_idle() const { return state_.line.empty(); }

  /// All that changes.
  struct State {
    std::vector<MemoryFlow> line;  ///< in turn: the packet in service, or the next one, is the first one's
    BusyPeriod busy;               ///< up to the end of that packet
    bool serving = false;          ///< a packet has begun, which may be over by now
  };
  [[nodiscard]] State& state() { return state_; }
  [[nodiscard]] const State& state() const { return state_; }
  [[nodiscard]] const Rate& rate() const { return rate_; }
  [[nodiscard]] std::int64_t packet() const { return packet_; }
  [[nodiscard]] bool takes_rounds() const { return takes_rounds_; }
  /// B of as many whole packets as these are sent in.
  [[nodiscard]] std::int64_t whole_packets(std::int64_t bytes) const { return ((bytes - 1) / packet_ + 1) * packet_; }
  /// When so many bytes will have been served from now on, if as many are in line.
  [[nodiscard]] Time end_of(std::int64_t bytes) const;

 private:
  [[nodiscard]] std::int64_t packets(const MemoryFlow& flow) const { return (flow.bytes - 1) / packet_ + 1; }
  [[nodiscard]] std::int64_t packet_of(const MemoryFlow& flow) const { return std::min(packet_, flow.bytes); }
  [[nodiscard]] Time free_at() const { return state_.busy.end(rate_); }
  [[nodiscard]] BusyPeriod busy_before_line() const;
  [[nodiscard]] Time next_begins() const { return std::max(free_at(), state_.line[0].came); }
  [[nodiscard]] bool serves(const MemoryUser& one) const;
  void serve(Time until);
  void serve_one();
  void begin_period();
  void end_packet();
  void serve_rounds(Time until);

  Rate rate_;
  std::int64_t packet_;
  bool takes_rounds_;
  State state_;
};

}  // namespace tessera::sim
