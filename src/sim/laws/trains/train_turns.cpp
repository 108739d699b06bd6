// How a port plans the next packets of own messages that take turns, a packet each (injector.hpp).
#include <algorithm>

#include "sim/laws/trains/train_port.hpp"

namespace tessera::sim {

// As many rounds as no message ends in, and one more, in which each message sends its last packet or another one.
bool TrainPort::plan_turns(Time now, const Injector::Offer& offer) {
  if (offer.alone) return false;
  TrainRun& run = work().run;
  PlannedTogether& together = run.together();
  const std::vector<Injector::Ticket> line = work().own.turns();
  run.offered = offer.time;
  const BusyPeriod before = with_room(state_.busy, rate());
  together.turns.period = offer.time > before.end(rate()) ? BusyPeriod{offer.time, 0} : before;
  together.turns.takers = static_cast<std::uint32_t>(line.size());
  std::uint32_t fewest = work().own.at(line.front()).packets_left;
  for (const Injector::Ticket place : line) fewest = std::min(fewest, work().own.at(place).packets_left);
  together.turns.rounds = fewest - 1;
  add_last_turns(line);
  // What is posted while the first packet is under way is behind all of these.
  if (turns_planned() == 0 || turn_left(0) <= now) return false;
  together.shares.clear();
  for (const Injector::Ticket place : line) together.shares.push_back({place, true, 0, false, {}});
  together.turns.kept = turns_planned();
  keep_turns(work().waiting.empty() ? together.turns.kept : turns_before(work().waiting.front().turn));
  run.to_destination = run.final = run.awaited = false;
  return true;
}

void TrainPort::add_last_turns(const std::vector<Injector::Ticket>& line) {
  PlannedTurns& turns = work().run.together().turns;
  turns.last_bytes.clear();
  std::int64_t bytes = 0;
  Time left = turns.rounds > 0 ? turn_left(turns.rounds * turns.takers - 1)
                               : std::max(work().run.offered, turns.period.end(rate()));
  for (const Injector::Ticket place : line) {
    const OwnMessage& message = work().own.at(place);
    const bool ends = message.packets_left == turns.rounds + 1;
    if (ends && message.awaited) break;
    bytes += ends ? message.last_bytes : tables_->packet();
    turns.last_bytes.push_back(bytes);
    const Time next = turn_left(turns_planned() - 1);
    if (next == left) {  // it would leave at its turn, not ahead of it
      turns.last_bytes.pop_back();
      break;
    }
    left = next;
  }
}

std::uint32_t TrainPort::turns_planned() const {
  const PlannedTurns& turns = work().run.together().turns;
  return turns.rounds * turns.takers + static_cast<std::uint32_t>(turns.last_bytes.size());
}

// B of the first packets of the run.
std::int64_t TrainPort::turn_bytes(std::uint32_t packets) const {
  const PlannedTurns& turns = work().run.together().turns;
  const std::uint32_t regular = turns.rounds * turns.takers;
  if (packets <= regular) return packets * tables_->packet();
  return regular * tables_->packet() + turns.last_bytes[packets - regular - 1];
}

// When the packet with this index leaves.
Time TrainPort::turn_left(std::uint32_t index) const {
  const BusyPeriod& period = work().run.together().turns.period;
  return time_after(period.start, rate().up(period.bytes + turn_bytes(index + 1)));
}

// How many packets of the run are chosen by `time`, the first one when it is offered, each other one when the one
// before has left.
std::uint32_t TrainPort::turns_chosen(Time time) const {
  if (work().run.offered > time) return 0;
  std::uint32_t low = 0;
  std::uint32_t high = work().run.together().turns.kept;
  while (low < high) {  // packets low .. high - 1 may have left
    const std::uint32_t middle = low + (high - low) / 2;
    if (turn_left(middle) <= time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::min(work().run.together().turns.kept, low + 1);
}

std::uint32_t TrainPort::turns_before(const Turn& turn) const {
  return turns_chosen(self_ < turn.component ? turn.time : turn.time - 1);
}

// The run is the first `packets` of what has been planned.
void TrainPort::keep_turns(std::uint32_t packets) {
  TrainRun& run = work().run;
  PlannedTogether& together = run.together();
  PlannedTurns& turns = together.turns;
  turns.kept = packets;
  for (std::uint32_t taker = 0; taker < turns.takers; ++taker) {
    PlannedShare& share = together.shares[taker];
    const OwnMessage& message = work().own.at(share.of);
    const std::uint32_t count = packets > taker ? (packets - 1 - taker) / turns.takers + 1 : 0;
    const std::int64_t packet = tables_->packet();
    share.final = count == message.packets_left;
    share.out = {
        turns.period.start, turns.period.bytes + (taker + 1) * packet, turns.takers * packet, 0, packet, count, link_};
    if (count > 0) share.out.last = turn_left((count - 1) * turns.takers + taker);
    if (share.final) share.out.last_bytes = message.last_bytes;
  }
  if (packets == 0) return;
  run.service.after = {turns.period.start, turns.period.bytes + turn_bytes(packets)};
  run.service.out.last = turn_left(packets - 1);
  together.last_turn = {packets == 1 ? run.offered : turn_left(packets - 2), self_, link_, 0};
  together.busy = run.service.out.last - std::max(run.offered, turns.period.end(rate()));
}

// Keeps the first `packets` of the run.
void TrainPort::cut_turns(Time now, std::uint32_t packets) {
  TrainRun& run = work().run;
  PlannedTogether& together = run.together();
  if (packets >= together.turns.kept) return;
  const std::vector<PlannedShare> before(together.shares.begin(), together.shares.begin() + together.turns.told);
  keep_turns(packets);
  take_back(now, before);
  if (packets > 0) return;
  together.shares.clear();
  run.active = false;
}

void TrainPort::complete_turns(PortSink& sink) {
  TrainRun& run = work().run;
  PlannedTogether& together = run.together();
  std::vector<Injector::Sent> sent;
  for (const PlannedShare& share : together.shares) {
    sent.push_back({share.of, share.out.count});
    if (share.final) sink.left(work().own.at(share.of), share.out.last);
  }
  work().own_left_at = run.service.out.last;
  work().own.sent_in_turns(sent, (together.turns.kept - 1) % together.turns.takers, run.service.out.last);
  together.shares.clear();
}

// Whether the last packet of a message leaves by `time`, as planned.
bool TrainPort::has_left(Injector::Ticket place, Time time) const {
  const TrainRun& run = work().run;
  const PlannedTogether& together = run.together();
  if (!run.active || !run.own) return false;
  return std::any_of(together.shares.begin(), together.shares.end(), [&](const PlannedShare& share) {
    return share.of == place && share.final && share.out.last <= time;
  });
}

// When the last of these messages leaves, if the run takes all of them to their ends.
Time TrainPort::turns_departure(std::uint32_t stream, std::uint32_t batch, std::uint32_t held) const {
  Time last = 0;
  for (const PlannedShare& share : work().run.together().shares) {
    const OwnMessage& message = work().own.at(share.of);
    if (!share.final || message.stream != stream || (batch != any_batch && message.batch != batch)) continue;
    last = std::max(last, share.out.last);
    --held;
  }
  return held == 0 ? last : never;
}

}  // namespace tessera::sim
