// How a port plans a device's own message among passing streams (mixing.hpp).
#include <algorithm>

#include "sim/network/output_port.hpp"

namespace tessera::sim {

// Only where the own message and the stream that comes first may make rounds: of one rate, with room between packets.
bool OutputPort::may_mix(const Injector::Offer& offer) const {
  if (offer.message == nullptr || !offer.alone || offer.message->packets_left < 3 || state_.waiting.empty())
    return false;
  if (tables_->most_together() == 1) return false;
  const Law& law = state_.streams[state_.waiting.front().stream].segment.law;
  return law.count > 2 && law.stride > tables_->packet() && tables_->rate(law.rate) == rate();
}

bool OutputPort::plan_mixed(const Injector::Offer& offer) {
  if (!may_mix(offer)) return false;
  PortRun& run = state_.run;
  const Turn own{offer.time, self_, link_, 0};
  std::optional<Turn> limit;
  gather_near(std::max(own.time, state_.waiting.front().turn.time), limit);
  Mixed mixed;
  if (!run.flows.empty()) {
    mixed = mix(state_.busy, run.flows, run.rounds.stride(), {own, offer.message->packets_left},
                limit ? &*limit : nullptr, {rate(), link_, rate(), tables_->packet()});
  }
  if (mixed.places.empty()) {
    for (const MergingFlow& flow : run.flows) push_waiting(flow.stream);
    run.flows.clear();
    return false;
  }
  const std::uint32_t place = state_.own.turns().front();
  run.shares.clear();
  run.among.clear();
  for (const MixedPlace& one : mixed.places) {
    const bool is_own = one.flow == MixedPlace::own;
    run.shares.push_back({is_own ? place : run.flows[one.flow].stream, is_own, 0, false, one.out});
    run.among.push_back({one.turns, one.tie});
  }
  run.own = false;
  run.turns.period = mixed.period;
  keep_mixed();
  return true;
}

// The streams whose next packets come within a round, out of those that wait; the others limit them.
void OutputPort::gather_near(Time from, std::optional<Turn>& limit) {
  PortRun& run = state_.run;
  run.flows.clear();
  run.rounds = {};
  while (!state_.waiting.empty()) {
    const Turn turn = state_.waiting.front().turn;
    const std::uint32_t stream = state_.waiting.front().stream;
    const Law& law = state_.streams[stream].segment.law;
    const bool is_near = turn.time <= saturating_add(from, rate().down(std::max(law.stride, run.rounds.stride())));
    if (!is_near || law.count < 3 || !add(run.rounds, stream)) {
      limit = turn;
      break;
    }
    run.flows.push_back({pop_waiting(), law, turn});
  }
}

// The run is what the shares have.
void OutputPort::keep_mixed() {
  PortRun& run = state_.run;
  std::int64_t packets = 0;
  run.last_turn = {};
  for (std::size_t i = 0; i < run.shares.size(); ++i) {
    const Law& out = run.shares[i].out;
    packets += out.count;
    if (out.count == 0) continue;
    Turn turn = run.among[i].tie;
    turn.time = run.among[i].turns.at(out.count - 1, rate());
    if (run.last_turn < turn) run.last_turn = turn;
  }
  const Time free = state_.busy.end(rate());
  const BusyPeriod& period = run.turns.period;
  run.service.after = {period.start, period.bytes + packets * tables_->packet()};
  run.service.out.last = run.service.after.end(rate());
  run.busy = run.service.out.last - std::max(free, period.end(rate()));
  run.awaited = false;
}

// Keeps the packets of the run that come before `turn`.
void OutputPort::cut_mixed(Time now, const Turn& turn) {
  PortRun& run = state_.run;
  if (run.last_turn < turn) return;
  const std::vector<PlannedShare> before = run.shares;
  bool any = false;
  for (std::size_t i = 0; i < run.shares.size(); ++i) {
    Law& out = run.shares[i].out;
    Turn tie = run.among[i].tie;
    tie.time = turn.time;
    out.truncate(run.among[i].turns.until(tie < turn ? turn.time : turn.time - 1, rate()), rate(), tables_->packet());
    any |= out.count > 0;
  }
  take_back(now, before);
  if (any) return keep_mixed();
  run.among.clear();
  end_shares();
  run.active = false;
}

void OutputPort::complete_mixed() {
  PortRun& run = state_.run;
  std::uint32_t own_packets = 0;
  Time left = 0;
  for (const PlannedShare& share : run.shares) {
    if (!share.own || share.out.count == 0) continue;
    own_packets += share.out.count;
    left = std::max(left, share.out.last);
  }
  if (own_packets > 0) (void)state_.own.sent(own_packets, left);
  run.among.clear();
  complete_merged();
}

}  // namespace tessera::sim
