// The most bytes that wait in a server's queue, exact and without looking at each packet. Packets are served in the
// order in which they come, so the queue that a packet makes or joins consists of itself and of those before it: all is
// known when it is known when they leave, whatever else comes later.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/laws/trains/service.hpp"

namespace tessera::sim {

/// Where in a server's busy period packets end that are shorter than a whole one: those that may be in the queue still,
/// and one before them. From the start of the period, and from each of these ends, packets end every whole packet up to
/// the next one.
struct ShortEnds {
  Time period = 0;                  ///< start of the busy period; of any other one nothing is known
  std::uint32_t first = 0;          ///< of `bytes` that counts
  std::vector<std::int64_t> bytes;  ///< B of the period up to and with each such packet, in order
  bool operator==(const ShortEnds&) const = default;
};

/// Takes what a server serves in the order of service, and raises `peak` to the most bytes that have come and not begun
/// service just after all of any moment.
class QueuePeak {
 public:
  QueuePeak(const Rate& rate, std::int64_t packet, ShortEnds& ends, std::int64_t& peak)
      : rate_(rate), packet_(packet), ends_(ends), peak_(peak) {}

  /// A packet of `bytes`, when it comes, and the server behind it.
  void packet(Time arrival, std::int64_t bytes, const BusyPeriod& behind) {
    const std::int64_t sent = rate_.within_either(arrival - behind.start);
    look_at(sent, bytes, behind);
    if (is_short(bytes)) end_short(sent, behind);
  }
  /// Whole packets of one busy period: the first `count` of `arrivals`, at times of its closed form. Of `out` only the
  /// closed form counts: base is the start of the period, offset the B of it up to and with the first of the packets.
  void packets(const PacketTimes& arrivals, const Rate& arrival_rate, std::uint32_t count, const PacketTimes& out) {
    if (count > 0 && !find_no_more(arrivals, arrival_rate, out)) take(arrivals, arrival_rate, count, out);
  }
  /// Whether it is easily seen that none of such packets, whatever their number, finds a longer queue than the longest
  /// one. What waits finds itself, a whole packet: no less is looked for. Most often, as packets come at the pace at
  /// which they leave, none finds more.
  [[nodiscard]] bool find_no_more(const PacketTimes& arrivals, const Rate& arrival_rate, const PacketTimes& out) const {
    if (arrivals.stride != out.stride || (&arrival_rate != &rate_ && !(arrival_rate == rate_))) return false;
    return rate_.no_later(out.base, out.offset - std::max(packet_, peak_ + 1), arrivals.base, arrivals.offset);
  }
  /// A packet of `bytes` that begins when it comes.
  void pass(std::int64_t bytes, const BusyPeriod& behind) {
    if (is_short(bytes)) end_short(behind.bytes - bytes, behind);
  }
  /// So much was in the queue of a busy period that is over.
  void raise(std::int64_t bytes) { peak_ = std::max(peak_, bytes); }
  /// Where the server is `busy` behind all: makes a period that has become very long shorter, as with_room().
  void shorten(BusyPeriod& busy);

 private:
  struct Row {
    const PacketTimes* arrivals;
    const Rate* arrival_rate;
    Time start;  // of the busy period
    std::int64_t first;
    std::int64_t stride;
  };
  void begin(Time period);
  /// Of the period, up to the end of the packet in service at a moment when it has sent `sent` bytes.
  [[nodiscard]] std::int64_t begun(std::int64_t sent) const;
  [[nodiscard]] std::size_t ends_within(std::int64_t sent) const;
  [[nodiscard]] bool is_short(std::int64_t bytes) const { return bytes != packet_ && bytes != 0; }
  // A packet of `bytes` comes when the server has sent `sent` bytes of its busy period.
  void look_at(std::int64_t sent, std::int64_t bytes, const BusyPeriod& behind) {
    const bool waits = behind.bytes - bytes > sent;
    if (waits && behind.bytes - sent > peak_) note(sent, behind);
  }
  void note(std::int64_t sent, const BusyPeriod& behind);
  void end_short(std::int64_t sent, const BusyPeriod& behind);
  void take(const PacketTimes& arrivals, const Rate& arrival_rate, std::uint32_t count, const PacketTimes& out);
  void look_at(const Row& row, std::uint32_t index);
  void look_at(const Row& row, std::uint32_t first, std::uint32_t end, std::int64_t phase);
  [[nodiscard]] bool exceeds(const Row& row, std::uint32_t first, std::uint32_t end, std::int64_t bytes) const;

  const Rate& rate_;
  std::int64_t packet_;
  ShortEnds& ends_;
  std::int64_t& peak_;
};

}  // namespace tessera::sim
