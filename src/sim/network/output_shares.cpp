// How a port plans the next packets of several streams that keep their order (merging.hpp), and takes them back.
#include <algorithm>

#include "sim/network/output_port.hpp"

namespace tessera::sim {

// Whether the two that come next go together: planning is for nothing where they do not.
bool OutputPort::may_share(const Turn* own_turn) const {
  const auto& waiting = state_.waiting;
  if (waiting.size() < 2 || tables_->most_together() == 1) return false;
  const auto second = waiting.size() > 2 && waiting[2].turn < waiting[1].turn ? waiting[2] : waiting[1];
  if (own_turn != nullptr && *own_turn < second.turn) return false;
  Rounds rounds;
  return add(rounds, waiting[0].stream) && add(rounds, second.stream);
}

bool OutputPort::add(Rounds& rounds, std::uint32_t stream) const {
  const Law& law = state_.streams[stream].segment.law;
  return rounds.add(law, tables_->rate(law.rate));
}

// Takes the streams that are planned together, at most so many, out of those that wait; the others limit them.
void OutputPort::gather(std::uint32_t most, std::optional<Turn>& limit) {
  PortRun& run = state_.run;
  run.flows.clear();
  run.rounds = {};
  std::vector<std::uint32_t> others;
  while (!state_.waiting.empty() && run.flows.size() < most) {
    const Turn turn = state_.waiting.front().turn;
    if (limit && !(turn < *limit)) break;
    const std::uint32_t stream = pop_waiting();
    if (add(run.rounds, stream)) {
      run.flows.push_back({stream, state_.streams[stream].segment.law, turn});
    } else {
      limit = turn;
      others.push_back(stream);
    }
  }
  for (const std::uint32_t stream : others) push_waiting(stream);
  if (!state_.waiting.empty() && (!limit || state_.waiting.front().turn < *limit)) limit = state_.waiting.front().turn;
}

bool OutputPort::plan_shares(const Turn* own_turn) {
  if (!may_share(own_turn)) return false;
  PortRun& run = state_.run;
  const std::uint32_t most = state_.most_together;
  if (most < all_together) state_.most_together = 2 * most;
  if (most == 1) return false;
  std::optional<Turn> limit;
  if (own_turn != nullptr) limit = *own_turn;
  gather(most, limit);
  if (run.flows.size() < most) state_.most_together = all_together;
  Merged merged = merge_flows(limit ? &*limit : nullptr);
  if (merged.last == 0) {
    for (const MergingFlow& flow : run.flows) push_waiting(flow.stream);
    run.flows.clear();
    return false;
  }
  run.shares.clear();
  for (const MergedShare& share : merged.shares) {
    const std::uint32_t stream = run.flows[share.flow].stream;
    run.shares.push_back({stream, false, 0, share.ends && state_.streams[stream].segment.final, share.out});
  }
  keep(std::move(merged));
  return true;
}

Merged OutputPort::merge_flows(const Turn* limit) const {
  const PortRun& run = state_.run;
  const Rate& arrivals = run.rounds.rate() == nullptr ? rate() : *run.rounds.rate();
  return merge(state_.busy, run.flows, run.rounds.stride(), limit, {rate(), link_, arrivals, tables_->packet()});
}

void OutputPort::keep(Merged&& merged) {
  PortRun& run = state_.run;
  run.goes_on = false;
  for (std::size_t i = 0; i < run.flows.size(); ++i) {
    run.goes_on |= merged.packets[i] < run.flows[i].arrivals.count;
  }
  run.service.after = merged.after;
  run.service.out.last = merged.last;
  run.busy = merged.busy;
  run.last_turn = merged.last_turn;
  run.rounds_without_pause = merged.rounds_without_pause;
  run.burst_queue = merged.burst_queue;
  run.singles = std::move(merged.singles);
  run.awaited = false;
}

// Keeps the packets of the run that come before `turn`, if these are all of its rounds and one more: merging anew would
// find the same.
bool OutputPort::cut_singles(Time now, const Turn& turn) {
  PortRun& run = state_.run;
  const auto first =
      std::ranges::partition_point(run.singles, [&](const SinglePacket& one) { return one.turn < turn; });
  if (first == run.singles.begin()) return false;
  const Rate& rate = this->rate();
  Time free = std::prev(first)->behind.end(rate);
  run.service.after = std::prev(first)->behind;
  run.service.out.last = free;
  run.last_turn = std::prev(first)->turn;
  for (auto one = first; one != run.singles.end(); ++one) {
    const Time left = one->behind.end(rate);
    run.busy -= left - std::max(std::exchange(free, left), one->turn.time);
    PlannedShare& share = run.shares[one->share];
    const PlannedShare before = share;
    share.out.truncate(share.out.count - 1, tables_->rate(share.out.rate), tables_->packet());
    share.final = false;
    take_back(now, before, share.out);
  }
  run.goes_on = true;
  const auto packets = static_cast<std::uint32_t>(first - run.singles.begin());
  if (packets < run.flows.size()) take_fewer(packets);
  run.singles.erase(first, run.singles.end());
  return true;
}

// Keeps the packets of the run that come before `turn`.
void OutputPort::cut_shares(Time now, const Turn& turn) {
  PortRun& run = state_.run;
  if (run.last_turn < turn) return;
  if (cut_singles(now, turn)) return;
  Merged kept = merge_flows(&turn);
  const std::vector<PlannedShare> before = run.shares;
  for (std::size_t i = 0; i < run.shares.size(); ++i) {
    PlannedShare& share = run.shares[i];
    if (kept.shares[i].out.count == share.out.count) continue;
    share.out = kept.shares[i].out;
    share.final = false;
  }
  take_back(now, before);
  // Taken back in its first round: where streams join one after another, each would take the plan of all others back.
  const std::uint32_t packets = std::accumulate(kept.packets.begin(), kept.packets.end(), 0U);
  if (packets < run.flows.size()) take_fewer(packets);
  if (kept.last == 0) {
    end_shares();
    run.active = false;
  } else {
    keep(std::move(kept));
  }
}

// The run was cut within its first round, behind so many packets.
void OutputPort::take_fewer(std::uint32_t packets) {
  if (state_.run.flows.size() > few_together) state_.most_together = std::max(1U, packets);
}

// Of a stream, all packets from `left` on are taken back by the node before.
void OutputPort::shorten_share(Time now, std::uint32_t stream, std::uint32_t left) {
  PortRun& run = state_.run;
  const auto found = std::find_if(run.flows.begin(), run.flows.end(),
                                  [stream](const MergingFlow& flow) { return flow.stream == stream; });
  if (found == run.flows.end()) return;
  Turn turn = found->turn;
  turn.time = found->arrivals.at(left, tables_->rate(found->arrivals.rate));
  run.among.empty() ? cut_shares(now, turn) : cut_mixed(now, turn);
  if (left > 0 || !run.active) return;
  found->stream = PortState::no_stream;
  for (PlannedShare& share : run.shares) {
    if (!share.own && share.of == stream) share.of = PortState::no_stream;
  }
}

void OutputPort::complete_merged() {
  for (const PlannedShare& share : state_.run.shares) {
    if (share.own || share.out.count == 0) continue;
    Stream& stream = state_.streams[share.of];
    stream.served += share.out.count;
    stream.segment.law.advance(share.out.count);
  }
  end_shares();
}

void OutputPort::count_shares() {
  const PortRun& run = state_.run;
  if (trace_ != nullptr) {
    trace_use();
    if (trace_->wants_packets()) trace_shares();
  }
  for (const PlannedShare& share : run.shares) {
    if (share.out.count == 0) continue;
    state_.counts.bytes += share.out.bytes(share.out.count, tables_->packet());
    state_.counts.messages += share.final ? 1 : 0;
    state_.counts.alone += share.out.count == 1 && !share.final ? 1 : 0;
  }
  state_.counts.busy += run.busy;
}

// Its streams wait again, or have been served.
void OutputPort::end_shares() {
  for (const MergingFlow& flow : state_.run.flows) {
    if (flow.stream == PortState::no_stream) continue;
    if (state_.streams[flow.stream].segment.law.count > 0) {
      push_waiting(flow.stream);
    } else {
      release_stream(flow.stream);
    }
  }
  state_.run.shares.clear();
  state_.run.flows.clear();
}

// Of several flows the first packet is in service for no longer than a whole one takes.
void OutputPort::trace_use() const {
  const PortRun& run = state_.run;
  if (run.shares.empty()) return trace_->in_use(link_, run.service.first_start, run.service.out.last);
  Time first = never, last = 0;
  for (const PlannedShare& share : run.shares) {
    if (share.out.count == 0) continue;
    first = std::min(first, share.out.at(0, tables_->rate(share.out.rate)));
    last = std::max(last, share.out.last);
  }
  if (first != never) trace_->in_use(link_, first - rate().up(tables_->packet()), last);
}

void OutputPort::trace_shares() const {
  struct Packet {
    const PlannedShare* share;
    Law one;
  };
  std::vector<Packet> packets;
  for (const PlannedShare& share : state_.run.shares) {
    for (std::uint32_t i = 0; i < share.out.count; ++i) {
      Law one;
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
