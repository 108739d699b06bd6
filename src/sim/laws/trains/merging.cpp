#include "sim/laws/trains/merging.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "sim/laws/trains/times_order.hpp"

namespace tessera::sim {
namespace {

/// A packet among those of all flows.
struct Packet {
  std::uint32_t flow = 0;
  std::uint32_t index = 0;  ///< in its flow
  PortTurn turn;
  [[nodiscard]] bool operator<(const Packet& other) const { return turn < other.turn; }
};

/// Packets of a round that are served without a pause.
struct Burst {
  std::uint32_t first = 0;  ///< in the round
  Time service = 0;
};

/// A flow in a round.
struct Part {
  std::uint32_t first_share = 0;
  std::uint32_t every = 1;  ///< packets, a share each
};

class Merger {
 public:
  Merger(const BusyPeriod& before, std::span<const MergingFlow> flows, std::int64_t stride, const PortTurn* limit,
         const ServiceRates& rates)
      : flows_(flows), stride_(stride), limit_(limit), rates_(rates), period_(with_room(before, rates.server)) {
    merged_.packets.assign(flows.size(), 0);
    parts_.reserve(flows.size());
    std::uint32_t shares = 0;
    for (const MergingFlow& flow : flows) {
      const bool is_regular = flow.arrivals.count > 1 && flow.arrivals.stride != stride;
      parts_.push_back({shares, is_regular ? static_cast<std::uint32_t>(stride / flow.arrivals.stride) : 1});
      shares += parts_.back().every;
    }
    merged_.shares.resize(shares);
    for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
      for (std::uint32_t i = 0; i < every(flow); ++i) merged_.shares[parts_[flow].first_share + i].flow = flow;
    }
  }

  Merged operator()() {
    rounds_ = whole_rounds();
    if (rounds_ > 0) {
      round_ = packets_behind(0, false);
      if (!keeps_order()) {
        rounds_ = 0;
      } else if (a_last_one_is_early()) {
        --rounds_;
      }
    }
    if (rounds_ > 0) serve_rounds();
    serve_one_more();
    merged_.after = period_;
    return std::move(merged_);
  }

 private:
  [[nodiscard]] bool is_single(std::uint32_t flow) const { return flows_[flow].arrivals.count == 1; }
  /// Packets of a flow in a round.
  [[nodiscard]] std::uint32_t every(std::uint32_t flow) const { return parts_[flow].every; }
  /// The first packet of a flow behind so many rounds.
  [[nodiscard]] std::uint32_t behind(std::uint32_t flow, std::uint32_t rounds) const {
    return is_single(flow) ? 0 : rounds * every(flow);
  }
  [[nodiscard]] Time arrival(std::uint32_t flow, std::uint32_t index) const {
    return flows_[flow].arrivals.at(index, rates_.arrivals);
  }
  [[nodiscard]] PortTurn turn(std::uint32_t flow, std::uint32_t index) const {
    PortTurn turn = flows_[flow].turn;
    turn.time = arrival(flow, index);
    return turn;
  }
  /// Of a packet of the first round, the offset in its times.
  [[nodiscard]] std::int64_t offset(const Packet& packet) const {
    const PacketTimes& times = flows_[packet.flow].arrivals;
    return times.offset + packet.index * times.stride;
  }
  [[nodiscard]] std::uint32_t place_of_share(const Packet& packet) const {
    const Part& part = parts_[packet.flow];
    return part.first_share + (part.every == 1 ? 0 : packet.index % part.every);
  }
  [[nodiscard]] MergedShare& share_of(const Packet& packet) { return merged_.shares[place_of_share(packet)]; }
  [[nodiscard]] std::uint32_t round_size() const { return static_cast<std::uint32_t>(round_.size()); }

  // Those in which no flow sends its last packet, which has a time of its own.
  [[nodiscard]] std::uint32_t whole_rounds() const {
    if (stride_ == 0) return 0;
    std::optional<PortTurn> end;
    if (limit_ != nullptr) end = *limit_;
    for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
      if (is_single(flow) && (!end || turn(flow, 0) < *end)) end = turn(flow, 0);
    }
    std::uint32_t rounds = std::numeric_limits<std::uint32_t>::max();
    for (std::uint32_t flow = 0; flow < flows_.size() && rounds > 0; ++flow) {
      if (is_single(flow)) continue;
      const PacketTimes& times = flows_[flow].arrivals;
      std::uint32_t packets = times.count - 1;
      if (end) {
        PortTurn equal = flows_[flow].turn;
        equal.time = end->time;
        packets = std::min(packets, times.until(equal < *end ? end->time : end->time - 1, rates_.arrivals));
      }
      rounds = std::min(rounds, packets / every(flow));
    }
    return rounds;
  }

  /// The next packets of all flows behind `rounds` rounds, as many of each as it sends in a round, by turn; single
  /// packets only where they are asked for.
  [[nodiscard]] std::vector<Packet> packets_behind(std::uint32_t rounds, bool with_singles) const {
    std::vector<Packet> packets;
    packets.reserve(merged_.shares.size());
    for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
      if (is_single(flow) && !with_singles) continue;
      const std::uint32_t first = behind(flow, rounds);
      const std::uint32_t end = std::min(flows_[flow].arrivals.count, first + every(flow));
      for (std::uint32_t index = first; index < end; ++index) packets.push_back({flow, index, turn(flow, index)});
    }
    std::sort(packets.begin(), packets.end());
    return packets;
  }

  // Each packet of a round comes before the next one, and the last one before the first one of the next round, in every
  // round: by a whole picosecond, which no rounding takes away, or at least not after it where it has precedence.
  [[nodiscard]] bool keeps_order() const {
    for (std::uint32_t i = 0; i < round_size(); ++i) {
      const Packet& a = round_[i];
      const Packet& b = round_[i + 1 < round_size() ? i + 1 : 0];
      const std::int64_t offset_b = offset(b) + (i + 1 < round_size() ? 0 : stride_);
      PortTurn tied = flows_[b.flow].turn;
      tied.time = flows_[a.flow].turn.time;
      const Time margin = flows_[a.flow].turn < tied || a.flow == b.flow ? 0 : 1;
      if (!rates_.arrivals.no_later(flows_[a.flow].arrivals.base + margin, offset(a), flows_[b.flow].arrivals.base,
                                    offset_b)) {
        return false;
      }
    }
    return true;
  }

  /// Turn of the last packet of all rounds.
  [[nodiscard]] PortTurn end_of_rounds() const {
    const Packet& last = round_.back();
    return turn(last.flow, last.index + (rounds_ - 1) * every(last.flow));
  }

  /// Whether the last packet of a flow, which has a time of its own, comes among the rounds before it.
  [[nodiscard]] bool a_last_one_is_early() const {
    const PortTurn end = end_of_rounds();
    for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
      const std::uint32_t next = behind(flow, rounds_);
      if (next + 1 == flows_[flow].arrivals.count && turn(flow, next) < end) return true;
    }
    return false;
  }

  void serve_rounds() {
    const Time first = round_.front().turn.time;
    const Time free = period_.end(rates_.server);
    if (first > free) period_ = {first, 0};
    const std::uint32_t back_to_back = rounds_back_to_back();
    if (back_to_back < rounds_ && has_slack()) {
      leave_in_bursts();
    } else {
      rounds_ = back_to_back;
      if (rounds_ > 0) leave_back_to_back(std::max(first, free));
    }
    if (rounds_ == 0) return;
    merged_.last_turn = end_of_rounds();
    merged_.last = period_.end(rates_.server);
    for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) merged_.packets[flow] = behind(flow, rounds_);
  }

  /// Whether the packet with this place in a round comes before the one before it has left, as exact numbers, not
  /// rounded: then it does so when rounded, too. Of a later round it may be no longer so, never the other way round.
  [[nodiscard]] bool finds_busy(std::uint32_t place, std::uint32_t round) const {
    const Packet& packet = round_[place];
    const std::int64_t before =
        period_.bytes + (static_cast<std::int64_t>(round) * round_size() + place) * rates_.packet;
    return rates_.arrivals.no_later(flows_[packet.flow].arrivals.base, offset(packet) + round * stride_, rates_.server,
                                    period_.start, before);
  }

  // Arrivals and departures are straight lines: where the arrivals are no slower, the first comparison decides; where
  // they are slower, the last one does.
  [[nodiscard]] std::uint32_t rounds_back_to_back() const {
    const bool slower = rates_.arrivals.longer(stride_, rates_.server, round_size() * rates_.packet);
    std::uint32_t rounds = rounds_;
    for (std::uint32_t place = 0; place < round_size() && rounds > 0; ++place) {
      const std::uint32_t first = place == 0 ? 1 : 0;  // the first packet of all begins the period
      if (first >= rounds) continue;
      if (!finds_busy(place, first)) {
        rounds = first;
        continue;
      }
      if (!slower || finds_busy(place, rounds - 1)) continue;
      std::uint32_t low = first;
      std::uint32_t high = rounds - 1;  // finds_busy(low), not finds_busy(high)
      while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        (finds_busy(place, middle) ? low : high) = middle;
      }
      rounds = high;
    }
    return rounds;
  }

  void leave_back_to_back(Time first_start) {
    for (std::uint32_t place = 0; place < round_size(); ++place) {
      const std::int64_t bytes = period_.bytes + (place + 1) * rates_.packet;
      const std::int64_t stride = round_size() * rates_.packet;
      share_of(round_[place]).out = times(period_.start, bytes, stride, rates_.server, rates_.server_link);
    }
    period_.bytes += static_cast<std::int64_t>(rounds_) * round_size() * rates_.packet;
    merged_.rounds_without_pause = rounds_;
    merged_.busy = period_.end(rates_.server) - first_start;
  }

  /// Whether every round falls apart into bursts in the same way, the first of which finds the server idle.
  [[nodiscard]] bool has_slack() {
    if (period_.bytes != 0 || period_.start != round_.front().turn.time) return false;
    bursts_.assign(1, {});
    for (std::uint32_t place = 1; place <= round_size(); ++place) {
      const Packet& first = round_[bursts_.back().first];
      const bool wraps = place == round_size();
      const Packet& next = round_[wraps ? 0 : place];
      const Rate::Gap gap = rates_.arrivals.gap(flows_[first.flow].arrivals.base, offset(first),
                                                flows_[next.flow].arrivals.base, offset(next) + (wraps ? stride_ : 0));
      const std::int64_t bytes = (place - bursts_.back().first) * rates_.packet;
      const Time service = rates_.server.up(bytes);
      const bool idle = gap.down > service || (gap.down == service && rates_.server.exact(bytes));
      if (!idle && (wraps || gap.up > service)) return false;
      if (!idle) continue;
      bursts_.back().service = service;
      if (!wraps) bursts_.push_back({place, 0});
    }
    return true;
  }

  void leave_in_bursts() {
    for (std::size_t i = 0; i < bursts_.size(); ++i) {
      const Packet& first = round_[bursts_[i].first];
      const std::uint32_t end = i + 1 < bursts_.size() ? bursts_[i + 1].first : round_size();
      for (std::uint32_t place = bursts_[i].first; place < end; ++place) {
        const Time service = rates_.server.up((place + 1 - bursts_[i].first) * rates_.packet);
        share_of(round_[place]).out = times(time_after(flows_[first.flow].arrivals.base, service), offset(first),
                                            stride_, rates_.arrivals, flows_[first.flow].arrivals.rate);
      }
      merged_.busy += repeated(rounds_, bursts_[i].service);
      period_ = {arrival(first.flow, first.index + (rounds_ - 1) * every(first.flow)),
                 (end - bursts_[i].first) * rates_.packet};
      count_queue(bursts_[i].first, end);
    }
  }

  // In a burst, a packet waits with all before it whose predecessors leave later than it comes.
  void count_queue(std::uint32_t first, std::uint32_t end) {
    const auto line = [&](std::uint32_t place, Time delay) {
      return TimeLine{flows_[round_[place].flow].arrivals.base + delay, offset(round_[place]), stride_,
                      &rates_.arrivals};
    };
    for (std::uint32_t place = first + 1; place < end; ++place) {
      const auto finds_more = [&] {
        const std::int64_t sent = (place - first) * rates_.packet - merged_.burst_queue;
        return sent > 0 && ever_later(line(first, rates_.server.up(sent)), line(place, 0), rounds_);
      };
      while (finds_more()) merged_.burst_queue += rates_.packet;
    }
  }

  [[nodiscard]] PacketTimes times(Time base, std::int64_t offset, std::int64_t stride, const Rate& rate,
                                  machine::LinkId link) const {
    const Time last = time_after(base, rate.up(offset + static_cast<std::int64_t>(rounds_ - 1) * stride));
    return {base, offset, stride, last, rates_.packet, rounds_, link};
  }

  // One by one, up to the first packet that would be its share's second.
  void serve_one_more() {
    const PortTurn* end = limit_;
    std::vector<PortTurn> seconds;
    for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
      const std::uint32_t index = behind(flow, rounds_) + every(flow);
      if (index < flows_[flow].arrivals.count) seconds.push_back(turn(flow, index));
    }
    const auto least = std::min_element(seconds.begin(), seconds.end());
    if (least != seconds.end() && (end == nullptr || *least < *end)) end = &*least;
    merged_.singles.reserve(merged_.shares.size());
    for (const Packet& packet : packets_behind(rounds_, true)) {
      if (end != nullptr && !(packet.turn < *end)) break;
      if (!serve_one(packet)) break;
    }
  }

  bool serve_one(const Packet& packet) {
    const PacketTimes& arrivals = flows_[packet.flow].arrivals;
    const std::int64_t bytes = packet.index + 1 == arrivals.count ? arrivals.last_bytes : rates_.packet;
    const Time free = period_.end(rates_.server);
    const Time start = std::max(free, packet.turn.time);
    BusyPeriod after = packet.turn.time > free ? BusyPeriod{packet.turn.time, 0} : period_;
    after.bytes += bytes;
    const Time left = after.end(rates_.server);
    if (left == start) return false;
    period_ = after;
    MergedShare& share = share_of(packet);
    share.ends = packet.index + 1 == arrivals.count;
    PacketTimes& out = share.out;
    if (out.count == 0) out = {left, 0, rates_.packet, left, bytes, 0, rates_.server_link};
    ++out.count;
    out.last = left;
    out.last_bytes = bytes;
    ++merged_.packets[packet.flow];
    merged_.singles.push_back({place_of_share(packet), packet.turn, bytes, after});
    merged_.last = left;
    merged_.last_turn = packet.turn;
    merged_.busy += left - start;
    return true;
  }

  std::span<const MergingFlow> flows_;
  std::int64_t stride_;
  const PortTurn* limit_;
  const ServiceRates& rates_;
  BusyPeriod period_;  // behind what has been served
  std::uint32_t rounds_ = 0;
  std::vector<Part> parts_;    // by flow
  std::vector<Packet> round_;  // the first one
  std::vector<Burst> bursts_;
  Merged merged_;
};

}  // namespace

Merged merge(const BusyPeriod& before, std::span<const MergingFlow> flows, std::int64_t stride, const PortTurn* limit,
             const ServiceRates& rates) {
  return Merger(before, flows, stride, limit, rates)();
}

}  // namespace tessera::sim
