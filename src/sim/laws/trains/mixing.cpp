#include "sim/laws/trains/mixing.hpp"

#include <algorithm>

namespace tessera::sim {
namespace {

constexpr std::uint32_t most_slots = 64;

class Mixer {
 public:
  Mixer(const BusyPeriod& before, std::span<const MergingFlow> flows, std::int64_t stride,
        const OfferedMessage& message, const PortTurn* limit, const ServiceRates& rates)
      : period_(with_room(before, rates.server)),
        flows_(flows),
        stride_(stride),
        message_(message),
        limit_(limit),
        rates_(rates),
        next_(flows.size(), 0) {}

  Mixed operator()() {
    const std::int64_t slots = stride_ / rates_.packet;
    if (slots > most_slots || slots * rates_.packet != stride_) return {};
    if (!serve_one_round(static_cast<std::uint32_t>(slots))) return {};
    std::uint32_t rounds = std::min(rounds_of_packets(), rounds_before_limit());
    if (rounds < 2 || !own_turns_follow() || !keeps_order() || !is_busy()) return {};
    if (a_last_one_is_early(rounds)) --rounds;
    return {period_, places(rounds)};
  }

 private:
  struct Slot {
    std::uint32_t flow = MixedShare::own;
    std::uint32_t index = 0;  ///< in its flow; of the own ones, in which slot the one before left
    bool is_behind = false;   ///< the own one before left in the round before
  };

  [[nodiscard]] Time leaves(std::int64_t slot) const {
    return time_after(period_.start, rates_.server.up(period_.bytes + (slot + 1) * rates_.packet));
  }
  [[nodiscard]] PortTurn turn_of(std::uint32_t flow) const {
    PortTurn turn = flows_[flow].turn;
    turn.time = flows_[flow].arrivals.at(next_[flow], rates_.arrivals);
    return turn;
  }

  // Packet by packet; false: it is not as many of each flow as in a round, or one of them is the last of its flow.
  bool serve_one_round(std::uint32_t slots) {
    PortTurn own = message_.turn;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      std::uint32_t first = MixedShare::own;
      PortTurn turn = own;
      for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
        if (next_[flow] + 1 >= flows_[flow].arrivals.count) return false;
        if (const PortTurn other = turn_of(flow); other < turn) {
          turn = other;
          first = flow;
        }
      }
      if (slot == 0 && turn.time > period_.end(rates_.server)) period_ = {turn.time, 0};
      if (first != MixedShare::own) {
        slots_.push_back({first, next_[first]++, false});
        continue;
      }
      slots_.push_back({first, last_own_, last_own_ == MixedShare::own});
      last_own_ = slot;
      own.time = leaves(slot);
    }
    if (last_own_ == MixedShare::own) return false;
    for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
      if (next_[flow] * flows_[flow].arrivals.stride != stride_) return false;
    }
    return true;
  }

  [[nodiscard]] std::uint32_t round_size() const { return static_cast<std::uint32_t>(slots_.size()); }
  [[nodiscard]] std::uint32_t own_packets() const {
    return static_cast<std::uint32_t>(
        std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.flow == MixedShare::own; }));
  }

  // None of them sends its last packet.
  [[nodiscard]] std::uint32_t rounds_of_packets() const {
    std::uint32_t rounds = (message_.packets_left - 1) / own_packets();
    for (std::uint32_t flow = 0; flow < flows_.size(); ++flow)
      rounds = std::min(rounds, (flows_[flow].arrivals.count - 1) / next_[flow]);
    return rounds;
  }
  // No packet leaves behind it, so none has its turn behind it.
  [[nodiscard]] std::uint32_t rounds_before_limit() const {
    constexpr std::uint32_t most = 1U << 30U;
    if (limit_ == nullptr) return most;
    if (limit_->time <= period_.start) return 0;
    const std::int64_t bytes = rates_.server.within(limit_->time - 1 - period_.start) - period_.bytes;
    return bytes <= 0 ? 0 : static_cast<std::uint32_t>(std::min<std::int64_t>(most, bytes / stride_));
  }

  /// When it is the turn of a slot's packet in the first round: times that move on by a round each.
  [[nodiscard]] PacketTimes turns(const Slot& slot, std::uint32_t rounds) const {
    PacketTimes times{0, 0, stride_, never, rates_.packet, rounds + 1, rates_.server_link};
    if (slot.flow != MixedShare::own) {
      const PacketTimes& arrivals = flows_[slot.flow].arrivals;
      times.base = arrivals.base;
      times.offset = arrivals.offset + slot.index * arrivals.stride;
      return times;
    }
    times.base = period_.start;
    times.offset =
        period_.bytes + (slot.is_behind ? (last_own_ + 1) * rates_.packet - stride_ : (slot.index + 1) * rates_.packet);
    return times;
  }

  // The first own packet is offered when that of the round before has left, as if there had been one.
  [[nodiscard]] bool own_turns_follow() const {
    const std::int64_t bytes = period_.bytes + (last_own_ + 1) * rates_.packet - stride_;
    return bytes >= 0 && time_after(period_.start, rates_.server.up(bytes)) == message_.turn.time;
  }

  // As in Merger: the last packet of a flow has a time of its own, which may be among the rounds before it.
  [[nodiscard]] bool a_last_one_is_early(std::uint32_t rounds) const {
    PortTurn end = tie(slots_.back());
    end.time = turns(slots_.back(), rounds).at(rounds - 1, rates_.server);
    for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
      PortTurn turn = flows_[flow].turn;
      turn.time = flows_[flow].arrivals.at(rounds * next_[flow], rates_.arrivals);
      if (turn < end) return true;
    }
    return false;
  }

  [[nodiscard]] PortTurn tie(const Slot& slot) const {
    PortTurn turn = slot.flow == MixedShare::own ? message_.turn : flows_[slot.flow].turn;
    turn.time = 0;
    return turn;
  }

  // As Merger::keeps_order().
  [[nodiscard]] bool keeps_order() const {
    for (std::uint32_t i = 0; i < round_size(); ++i) {
      const bool wraps = i + 1 == round_size();
      const Slot& a = slots_[i];
      const Slot& b = slots_[wraps ? 0 : i + 1];
      const PacketTimes first = turns(a, 1);
      const PacketTimes second = turns(b, 1);
      const Time margin = tie(a) < tie(b) || a.flow == b.flow ? 0 : 1;
      if (!rates_.server.no_later(first.base + margin, first.offset, second.base,
                                  second.offset + (wraps ? stride_ : 0))) {
        return false;
      }
    }
    return true;
  }

  // Each comes before the one before it has left; the first one of all begins the period or finds it.
  [[nodiscard]] bool is_busy() const {
    for (std::uint32_t i = 0; i < round_size(); ++i) {
      const PacketTimes times = turns(slots_[i], 1);
      const std::int64_t round = i == 0 ? stride_ : 0;
      if (!rates_.server.no_later(times.base, times.offset + round, period_.start,
                                  period_.bytes + i * rates_.packet + round)) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::vector<MixedShare> places(std::uint32_t rounds) const {
    std::vector<MixedShare> places;
    for (std::uint32_t i = 0; i < round_size(); ++i) {
      PacketTimes out{period_.start,     period_.bytes + (i + 1) * rates_.packet, stride_, 0, rates_.packet, rounds,
                      rates_.server_link};
      out.last = leaves(static_cast<std::int64_t>(rounds - 1) * round_size() + i);
      places.push_back({slots_[i].flow, turns(slots_[i], rounds), tie(slots_[i]), out});
    }
    return places;
  }

  BusyPeriod period_;
  std::span<const MergingFlow> flows_;
  std::int64_t stride_;
  const OfferedMessage& message_;
  const PortTurn* limit_;
  const ServiceRates& rates_;
  std::vector<std::uint32_t> next_;  // by flow: its packets in the round
  std::vector<Slot> slots_;          // of a round
  std::uint32_t last_own_ = MixedShare::own;
};

}  // namespace

Mixed mix(const BusyPeriod& before, std::span<const MergingFlow> flows, std::int64_t stride,
          const OfferedMessage& message, const PortTurn* limit, const ServiceRates& rates) {
  return Mixer(before, flows, stride, message, limit, rates)();
}

}  // namespace tessera::sim
