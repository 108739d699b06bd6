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
  together.turns.line.clear();
  together.turns.line.reserve(line.size());
  for (const Injector::Ticket place : line) together.turns.line.push_back({place, 0});
  std::uint32_t fewest = work().own.at(line.front()).packets_left;
  for (const Injector::Ticket place : line) fewest = std::min(fewest, work().own.at(place).packets_left);
  together.turns.rounds = fewest - 1;
  add_last_turns(line);
  // What is posted while the first packet is under way is behind all of these.
  if (turns_planned() == 0 || turn_left(0) <= now) {
    together.turns.line.clear();
    return false;
  }
  together.turns.kept = turns_planned();
  keep_turns(work().waiting.empty() ? together.turns.kept : turns_before(work().waiting.front().turn));
  run.to_destination = run.final = run.awaited = false;
  return true;
}

void TrainPort::add_last_turns(const std::vector<Injector::Ticket>& line) {
  PlannedTurns& turns = work().run.together().turns;
  turns.last_bytes.clear();
  std::int64_t bytes = 0;
  Time left = turns.rounds > 0 ? turn_left(turns.rounds * turns.takers() - 1)
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
  return turns.rounds * turns.takers() + static_cast<std::uint32_t>(turns.last_bytes.size());
}

// B of the first packets of the run.
std::int64_t TrainPort::turn_bytes(std::uint32_t packets) const {
  const PlannedTurns& turns = work().run.together().turns;
  const std::uint32_t regular = turns.rounds * turns.takers();
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

// How many packets of the run a taker has.
std::uint32_t TrainPort::turns_of(std::uint32_t taker) const {
  const PlannedTurns& turns = work().run.together().turns;
  return turns.kept > taker ? (turns.kept - 1 - taker) / turns.takers() + 1 : 0;
}

// Whether the last packet of its message is among them.
bool TrainPort::ends_turns(std::uint32_t taker) const {
  return turns_of(taker) == work().own.at(work().run.together().turns.line[taker].place).packets_left;
}

std::uint32_t TrainPort::turns_that_end() const {
  std::uint32_t ends = 0;
  for (std::uint32_t taker = 0; taker < work().run.together().turns.takers(); ++taker)
    ends += ends_turns(taker) ? 1 : 0;
  return ends;
}

// What a taker has of the run. It is not kept: a device may have a thousand takers.
PlannedShare TrainPort::turn_share(std::uint32_t taker) const {
  const PlannedTurns& turns = work().run.together().turns;
  const auto& [place, generation] = turns.line[taker];
  const std::uint32_t count = turns_of(taker), takers = turns.takers();
  const std::int64_t packet = tables_->packet();
  const bool ends = ends_turns(taker);
  const std::int64_t last_bytes = ends ? work().own.at(place).last_bytes : packet;
  const Time last = count > 0 ? turn_left((count - 1) * takers + taker) : 0;
  const std::int64_t offset = turns.period.bytes + (taker + 1) * packet;
  return {place, true, generation, ends, {turns.period.start, offset, takers * packet, last, last_bytes, count, link_}};
}

std::vector<PlannedShare> TrainPort::turn_shares(std::uint32_t first, std::uint32_t count) const {
  std::vector<PlannedShare> shares;
  shares.reserve(count);
  for (std::uint32_t taker = first; taker < first + count; ++taker) shares.push_back(turn_share(taker));
  return shares;
}

// The run is the first `packets` of what has been planned.
void TrainPort::keep_turns(std::uint32_t packets) {
  TrainRun& run = work().run;
  PlannedTogether& together = run.together();
  PlannedTurns& turns = together.turns;
  turns.kept = packets;
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
  const std::vector<PlannedShare> before = turn_shares(0, together.turns.told);
  keep_turns(packets);
  take_back(now, before);
  if (packets > 0) return;
  together.turns.line.clear();
  run.active = false;
}

void TrainPort::complete_turns(PortSink& sink) {
  TrainRun& run = work().run;
  PlannedTogether& together = run.together();
  const std::vector<PlannedShare> shares = turn_shares(0, together.turns.takers());
  count_shares(shares);
  std::vector<Injector::Sent> sent;
  sent.reserve(shares.size());
  for (const PlannedShare& share : shares) {
    sent.push_back({share.of, share.out.count});
    if (share.final) sink.left(work().own.at(share.of), share.out.last);
  }
  work().own_left_at = run.service.out.last;
  work().own.sent_in_turns(sent, (together.turns.kept - 1) % together.turns.takers(), run.service.out.last);
  together.turns.line.clear();
}

// Whether the last packet of a message leaves by `time`, as planned.
bool TrainPort::has_left(Injector::Ticket place, Time time) const {
  if (!work().run.active || !work().run.takes_turns()) return false;
  const auto& line = work().run.together().turns.line;
  const auto found = std::ranges::find(line, place, &TurnTaker::place);
  if (found == line.end()) return false;
  const PlannedShare share = turn_share(static_cast<std::uint32_t>(found - line.begin()));
  return share.final && share.out.last <= time;
}

// When the last of these messages leaves, if the run takes all of them to their ends.
Time TrainPort::turns_departure(std::uint32_t stream, std::uint32_t batch, std::uint32_t held) const {
  Time last = 0;
  for (std::uint32_t taker = 0; taker < work().run.together().turns.takers(); ++taker) {
    const OwnMessage& message = work().own.at(work().run.together().turns.line[taker].place);
    if (!ends_turns(taker) || message.stream != stream || (batch != any_batch && message.batch != batch)) continue;
    last = std::max(last, turn_share(taker).out.last);
    --held;
  }
  return held == 0 ? last : never;
}

}  // namespace tessera::sim
