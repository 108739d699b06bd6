// How a port plans the next packets of several streams that keep their order (merging.hpp), and takes them back.
#include <algorithm>

#include "sim/laws/trains/train_port.hpp"

namespace tessera::sim {

// Whether the two that come next go together: planning is for nothing where they do not.
bool TrainPort::may_share(const Turn* own_turn) const {
  const auto& waiting = work().waiting;
  if (waiting.size() < 2) return false;
  const auto second = waiting.size() > 2 && waiting[2].turn < waiting[1].turn ? waiting[2] : waiting[1];
  if (own_turn != nullptr && *own_turn < second.turn) return false;
  const Time first = waiting[0].turn.time;
  if (work().stops_at_gaps && is_behind_gap(second.turn.time, free_behind(state_.busy.end(rate()), first)))
    return false;
  PacketRounds rounds;
  return add(rounds, waiting[0].stream, first) && add(rounds, second.stream, first);
}

// Takes a stream into rounds that begin at `first`; false: it does not go with the others. One whose packets come only
// later, while those before it go on for long, would have no place in a round, and leave none to the others. A single
// packet goes with any, whenever it comes.
bool TrainPort::add(PacketRounds& rounds, std::uint32_t stream, Time first) const {
  const PacketTimes& times = work().streams[stream].times;
  if (times.count == 1) return true;
  const Rate& rate = tables_->rate(times.rate);
  const Time within = rate.down(std::max(times.stride, rounds.stride()));
  if (times.at(0, rate) > saturating_add(first, within)) return false;
  return rounds.add(times, rate);
}

// Takes the streams that are planned together, at most so many, out of those that wait; the others limit them.
void TrainPort::gather(std::uint32_t most, std::optional<Turn>& limit) {
  PlannedTogether& together = work().run.together();
  together.flows.clear();
  together.rounds = {};
  std::vector<std::uint32_t> others;
  const Time first = work().waiting.front().turn.time;
  Time free = state_.busy.end(rate());
  std::uint32_t singles = 0;
  while (!work().waiting.empty() && together.flows.size() < most && singles < most_singles) {
    const Turn turn = work().waiting.front().turn;
    if ((limit && !(turn < *limit)) || (work().stops_at_gaps && is_behind_gap(turn.time, free))) break;
    const std::uint32_t stream = pop_waiting();
    if (add(together.rounds, stream, first)) {
      const PacketTimes& times = work().streams[stream].times;
      together.flows.push_back({stream, times, turn});
      singles += times.count == 1 ? 1 : 0;
      free = free_behind(free, turn.time);
    } else {
      limit = turn;
      others.push_back(stream);
    }
  }
  for (const std::uint32_t stream : others) push_waiting(stream);
  if (!work().waiting.empty() && (!limit || work().waiting.front().turn < *limit)) limit = work().waiting.front().turn;
  if (work().stops_at_gaps) limit_to_gap(free, limit);
}

// Second packets that come only when the first ones are gone are no part of the run.
void TrainPort::limit_to_gap(Time free, std::optional<Turn>& limit) {
  for (const MergingFlow& flow : work().run.together().flows) {
    const PacketTimes& times = flow.arrivals;
    if (times.count == 1) continue;
    Turn second = flow.turn;
    second.time = times.at(1, tables_->rate(times.rate));
    if (is_behind_gap(second.time, free) && (!limit || second < *limit)) limit = second;
  }
}

bool TrainPort::plan_shares(const Turn* own_turn) {
  if (!may_share(own_turn)) return false;
  PlannedTogether& together = work().run.together();
  const std::uint32_t most = work().most_together;
  if (most < all_together) work().most_together = 2 * most;
  if (most == 1) return false;
  std::optional<Turn> limit;
  if (own_turn != nullptr) limit = *own_turn;
  gather(most, limit);
  if (together.flows.size() < most) work().most_together = all_together;
  Merged merged = merge_flows(limit ? &*limit : nullptr);
  if (merged.last == 0) {
    for (const MergingFlow& flow : together.flows) push_waiting(flow.stream);
    together.flows.clear();
    return false;
  }
  together.shares.clear();
  for (const MergedShare& share : merged.shares) {
    const std::uint32_t stream = together.flows[share.flow].stream;
    together.shares.push_back({stream, false, 0, share.ends && work().streams[stream].final, share.out});
  }
  keep(std::move(merged));
  return true;
}

Merged TrainPort::merge_flows(const Turn* limit) const {
  const PlannedTogether& together = work().run.together();
  const Rate& arrivals = together.rounds.rate() == nullptr ? rate() : *together.rounds.rate();
  return merge(state_.busy, together.flows, together.rounds.stride(), limit,
               {rate(), link_, arrivals, tables_->packet()});
}

void TrainPort::keep(Merged&& merged) {
  TrainRun& run = work().run;
  PlannedTogether& together = run.together();
  together.next = never;
  for (std::size_t i = 0; i < together.flows.size(); ++i) {
    const PacketTimes& times = together.flows[i].arrivals;
    if (merged.packets[i] < times.count)
      together.next = std::min(together.next, times.at(merged.packets[i], tables_->rate(times.rate)));
  }
  run.service.after = merged.after;
  run.service.out.last = merged.last;
  together.busy = merged.busy;
  together.last_turn = merged.last_turn;
  together.rounds_without_pause = merged.rounds_without_pause;
  together.burst_queue = merged.burst_queue;
  together.singles = std::move(merged.singles);
  run.awaited = false;
}

// Keeps the packets of the run that come before `turn`, if these are all of its rounds and one more: merging anew would
// find the same.
bool TrainPort::cut_singles(Time now, const Turn& turn) {
  TrainRun& run = work().run;
  PlannedTogether& together = run.together();
  const auto first =
      std::ranges::partition_point(together.singles, [&](const SinglePacket& one) { return one.turn < turn; });
  if (first == together.singles.begin()) return false;
  const Rate& rate = this->rate();
  Time free = std::prev(first)->behind.end(rate);
  run.service.after = std::prev(first)->behind;
  run.service.out.last = free;
  together.last_turn = std::prev(first)->turn;
  together.next = std::min(together.next, first->turn.time);
  for (auto one = first; one != together.singles.end(); ++one) {
    const Time left = one->behind.end(rate);
    together.busy -= left - std::max(std::exchange(free, left), one->turn.time);
    PlannedShare& share = together.shares[one->share];
    const PlannedShare before = share;
    share.out.truncate(share.out.count - 1, tables_->rate(share.out.rate), tables_->packet());
    share.final = false;
    take_back(now, before, share.out);
  }
  const auto packets = static_cast<std::uint32_t>(first - together.singles.begin());
  if (packets < together.flows.size()) take_fewer(packets);
  together.singles.erase(first, together.singles.end());
  return true;
}

// Keeps the packets of the run that come before `turn`.
void TrainPort::cut_shares(Time now, const Turn& turn) {
  TrainRun& run = work().run;
  PlannedTogether& together = run.together();
  if (together.last_turn < turn) return;
  if (cut_singles(now, turn)) return;
  Merged kept = merge_flows(&turn);
  const std::vector<PlannedShare> before = together.shares;
  for (std::size_t i = 0; i < together.shares.size(); ++i) {
    PlannedShare& share = together.shares[i];
    share.final = share.final && kept.shares[i].out.count == share.out.count;
    share.out = kept.shares[i].out;  // at the same times, but perhaps by another form: queues are counted by that
  }
  take_back(now, before);
  // Taken back in its first round: where streams join one after another, each would take the plan of all others back.
  const std::uint32_t packets = std::accumulate(kept.packets.begin(), kept.packets.end(), 0U);
  if (packets < together.flows.size()) take_fewer(packets);
  if (kept.last == 0) {
    end_shares();
    run.active = false;
  } else {
    keep(std::move(kept));
  }
}

// The run was cut within its first round, behind so many packets.
void TrainPort::take_fewer(std::uint32_t packets) {
  if (work().run.together().flows.size() > few_together) work().most_together = std::max(1U, packets);
}

// Of a stream, all packets from `left` on are taken back by the node before.
void TrainPort::shorten_share(Time now, std::uint32_t stream, std::uint32_t left) {
  TrainRun& run = work().run;
  PlannedTogether& together = run.together();
  const auto found = std::find_if(together.flows.begin(), together.flows.end(),
                                  [stream](const MergingFlow& flow) { return flow.stream == stream; });
  if (found == together.flows.end()) return;
  Turn turn = found->turn;
  turn.time = found->arrivals.at(left, tables_->rate(found->arrivals.rate));
  run.is_mixed() ? cut_mixed(now, turn) : cut_shares(now, turn);
  if (left > 0 || !run.active) return;
  found->stream = TrainState::no_stream;
  for (PlannedShare& share : together.shares) {
    if (!share.own && share.of == stream) share.of = TrainState::no_stream;
  }
}

void TrainPort::complete_merged() {
  for (const PlannedShare& share : work().run.together().shares) {
    if (share.own || share.out.count == 0) continue;
    Stream& stream = work().streams[share.of];
    stream.served += share.out.count;
    stream.times.advance(share.out.count);
  }
  end_shares();
}

void TrainPort::count_shares(std::span<const PlannedShare> shares) {
  if (trace_ != nullptr) trace_shares(shares);
  for (const PlannedShare& share : shares) {
    if (share.out.count == 0) continue;
    state_.counts.bytes += share.out.bytes(share.out.count, tables_->packet());
    state_.counts.messages += share.final && !(share.own && work().own.at(share.of).goes_on) ? 1 : 0;
    state_.counts.alone += share.out.count == 1 && !share.final ? 1 : 0;
  }
  state_.counts.busy += work().run.together().busy;
}

// Its streams wait again, or have been served.
void TrainPort::end_shares() {
  for (const MergingFlow& flow : work().run.together().flows) {
    if (flow.stream == TrainState::no_stream) continue;
    if (work().streams[flow.stream].times.count > 0) {
      push_waiting(flow.stream);
    } else {
      release_stream(flow.stream);
    }
  }
  work().run.together().shares.clear();
  work().run.together().flows.clear();
}

void TrainPort::trace_shares(std::span<const PlannedShare> shares) const {
  struct Packet {
    const PlannedShare* share;
    PacketTimes one;
  };
  std::vector<Packet> packets;
  for (const PlannedShare& share : shares) {
    for (std::uint32_t i = 0; i < share.out.count; ++i) {
      PacketTimes one;
      one.last = share.out.at(i, tables_->rate(share.out.rate));
      one.last_bytes = i + 1 == share.out.count ? share.out.last_bytes : tables_->packet();
      one.count = 1;
      packets.push_back({&share, one});
    }
  }
  std::sort(packets.begin(), packets.end(), [](const Packet& a, const Packet& b) { return a.one.last < b.one.last; });
  for (const Packet& packet : packets) {
    const Announced of = announced(*packet.share);
    trace_->packets_left(link_, of.name, of.destination, packet.one);
  }
}

}  // namespace tessera::sim
