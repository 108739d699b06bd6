// How a port plans a device's own message among passing streams (mixing.hpp).
#include <algorithm>

#include "sim/laws/trains/train_port.hpp"

namespace tessera::sim {

// Only where the own message and the stream that comes first may make rounds: of one rate, with room between packets.
bool TrainPort::may_mix(const Injector::Offer& offer) const {
  if (offer.message == nullptr || !offer.alone || offer.message->packets_left < 3 || work().waiting.empty())
    return false;
  const PacketTimes& times = work().streams[work().waiting.front().stream].times;
  return times.count > 2 && times.stride > tables_->packet() && tables_->rate(times.rate) == rate();
}

bool TrainPort::plan_mixed(const Injector::Offer& offer) {
  if (!may_mix(offer)) return false;
  TrainRun& run = work().run;
  PlannedTogether& together = run.together();
  const Turn own{offer.time, self_, link_, 0};
  std::optional<Turn> limit;
  gather_near(std::max(own.time, work().waiting.front().turn.time), limit);
  Mixed mixed;
  if (!together.flows.empty()) {
    mixed = mix(state_.busy, together.flows, together.rounds.stride(), {own, offer.message->packets_left},
                limit ? &*limit : nullptr, {rate(), link_, rate(), tables_->packet()});
  }
  if (mixed.places.empty()) {
    for (const MergingFlow& flow : together.flows) push_waiting(flow.stream);
    together.flows.clear();
    return false;
  }
  const std::uint32_t place = work().own.turns().front();
  together.shares.clear();
  together.among.clear();
  for (const MixedShare& one : mixed.places) {
    const bool is_own = one.flow == MixedShare::own;
    together.shares.push_back({is_own ? place : together.flows[one.flow].stream, is_own, 0, false, one.out});
    together.among.push_back({one.turns, one.tie});
  }
  run.own = false;
  together.turns.period = mixed.period;
  keep_mixed();
  return true;
}

// The streams whose next packets come within a round, out of those that wait; the others limit them.
void TrainPort::gather_near(Time from, std::optional<Turn>& limit) {
  PlannedTogether& together = work().run.together();
  together.flows.clear();
  together.rounds = {};
  while (!work().waiting.empty()) {
    const Turn turn = work().waiting.front().turn;
    const std::uint32_t stream = work().waiting.front().stream;
    const PacketTimes& times = work().streams[stream].times;
    if (times.count < 3 || !add(together.rounds, stream, from)) {
      limit = turn;
      break;
    }
    together.flows.push_back({pop_waiting(), times, turn});
  }
}

// The run is what the shares have.
void TrainPort::keep_mixed() {
  TrainRun& run = work().run;
  PlannedTogether& together = run.together();
  std::int64_t packets = 0;
  together.last_turn = {};
  for (std::size_t i = 0; i < together.shares.size(); ++i) {
    const PacketTimes& out = together.shares[i].out;
    packets += out.count;
    if (out.count == 0) continue;
    Turn turn = together.among[i].tie;
    turn.time = together.among[i].turns.at(out.count - 1, rate());
    if (together.last_turn < turn) together.last_turn = turn;
  }
  const Time free = state_.busy.end(rate());
  const BusyPeriod& period = together.turns.period;
  run.service.after = {period.start, period.bytes + packets * tables_->packet()};
  run.service.out.last = run.service.after.end(rate());
  together.busy = run.service.out.last - std::max(free, period.end(rate()));
  run.awaited = false;
}

// Keeps the packets of the run that come before `turn`.
void TrainPort::cut_mixed(Time now, const Turn& turn) {
  TrainRun& run = work().run;
  PlannedTogether& together = run.together();
  if (together.last_turn < turn) return;
  const std::vector<PlannedShare> before = together.shares;
  bool any = false;
  for (std::size_t i = 0; i < together.shares.size(); ++i) {
    PacketTimes& out = together.shares[i].out;
    Turn tie = together.among[i].tie;
    tie.time = turn.time;
    out.truncate(together.among[i].turns.until(tie < turn ? turn.time : turn.time - 1, rate()), rate(),
                 tables_->packet());
    any |= out.count > 0;
  }
  take_back(now, before);
  if (any) return keep_mixed();
  together.among.clear();
  end_shares();
  run.active = false;
}

void TrainPort::complete_mixed() {
  PlannedTogether& together = work().run.together();
  std::uint32_t own_packets = 0;
  Time left = 0;
  for (const PlannedShare& share : together.shares) {
    if (!share.own || share.out.count == 0) continue;
    own_packets += share.out.count;
    left = std::max(left, share.out.last);
  }
  if (own_packets > 0) {
    work().own_left_at = left;
    static_cast<void>(work().own.sent(own_packets, left));
  }
  together.among.clear();
  complete_merged();
}

}  // namespace tessera::sim
