// What a port tells the nodes behind its link of what it has planned, and takes back.
#include <algorithm>
#include <array>

#include "sim/laws/trains/train_port.hpp"

namespace tessera::sim {

void TrainPort::announce(Time waited_until, PortSink& sink) {
  TrainRun& run = work().run;
  const PacketTimes& out = run.service.out;
  if (run.to_destination && !run.final) return;  // the destination counts whole messages
  run.generation = state_.next_generation++;
  if (run.to_destination) {
    sink.deliver(*this, time_after(out.last, latency()), run.destination, {run.name, run.generation, waited_until});
    return;
  }
  Segment segment{run.name, run.generation, run.destination, link_, waited_until, out, run.final && !run.goes_on, false,
                  {},       run.bytes};
  forward(segment, sink);
}

void TrainPort::tell_as(const Segment& segment, std::uint32_t generation) {
  TrainRun& run = work().run;
  if (!run.has_shares()) {
    run.generation = generation;
    return;
  }
  for (PlannedShare& share : run.together().shares) {
    if (!share.own && work().streams[share.of].name == segment.name &&
        work().streams[share.of].destination == segment.destination)
      share.generation = generation;
  }
}

TrainPort::Announced TrainPort::announced(const PlannedShare& share) const {
  if (share.own) {
    const OwnMessage& message = work().own.at(share.of);
    return {message.name, message.destination, message.waited_until, message.goes_on, message.bytes};
  }
  const Stream& stream = work().streams[share.of];
  return {stream.name, stream.destination, stream.waited_until, false, stream.bytes};
}

void TrainPort::announce_shares(PortSink& sink) { announce_shares(work().run.together().shares, sink); }

// Of own messages that take turns. The more of them there are, the later the last ones begin: they are told of only
// then, since what is announced has to be kept until it takes place. What takes back others is told of at once.
void TrainPort::announce_turns(PortSink& sink) {
  constexpr std::uint32_t most = 64;
  PlannedTurns& turns = work().run.together().turns;
  const std::uint32_t left = turns.takers() - turns.told;
  std::vector<PlannedShare> shares = turn_shares(turns.told, work().amends.empty() ? std::min(most, left) : left);
  announce_shares(shares, sink);
  for (const PlannedShare& share : shares) turns.line[turns.told++].generation = share.generation;
}

// When the first packet begins of those that have not been announced; never: all have.
Time TrainPort::next_turns_at() const {
  if (!work().run.takes_turns()) return never;
  const PlannedTurns& turns = work().run.together().turns;
  return turns.told < std::min(turns.takers(), turns.kept) ? turn_left(turns.told - 1) : never;
}

void TrainPort::announce_shares(std::span<PlannedShare> shares, PortSink& sink) {
  Segments together;
  for (PlannedShare& share : shares) {
    if (share.out.count == 0) continue;
    const Announced of = announced(share);
    share.generation = state_.next_generation++;
    if (tables_->ends_behind(link_, of.destination)) {
      if (!share.final) continue;
      sink.deliver(*this, time_after(share.out.last, latency()), of.destination,
                   {of.name, share.generation, of.waited_until});
      continue;
    }
    const bool final = share.final && !of.goes_on;
    Segment segment{of.name, share.generation, of.destination, link_, of.waited_until, share.out, final, false,
                    {},      of.bytes};
    if (!sink.takes_together()) {
      forward(segment, sink);
      continue;
    }
    if (together.count == Segments::most || (together.count > 0 && !goes_along(together.all[0], segment)))
      forward_together(together, sink);
    together.all[together.count++] = segment;
  }
  forward_together(together, sink);
}

// Whether both come to the same output of the same component next.
bool TrainPort::goes_along(const Segment& one, const Segment& other) const {
  const bool same_end = one.destination == other.destination;
  if (same_end && tables_->bound_ways().empty()) return true;
  if (!same_end && tables_->is_device(tables_->link(link_).to)) return false;
  const machine::Routes routes = tables_->routes();
  return routes.next(link_, connection_of(one)) == routes.next(link_, connection_of(other));
}

// Empties them. They are told with the first packet, or when the last one has come of all that they shorten.
void TrainPort::forward_together(Segments& segments, PortSink& sink) {
  if (segments.count == 1) forward(segments.all[0], sink);
  if (segments.count > 1) {
    Time first = never;
    for (Segment& segment : segments.span()) {
      segment.times.delay(latency());
      first = std::min(first, segment.times.at(0, tables_->rate(segment.times.rate)));
    }
    const Time at = take_along(segments, first);
    sink.forward_together(*this, at == 0 ? first : at, segments);
  }
  segments.count = 0;
}

// Amendments that may come before any packet of the segments go along with them, if they still overtake what they take
// back. From when on all of them may; 0: none goes along.
Time TrainPort::take_along(Segments& segments, Time first) {
  std::array<std::optional<TimedAmend>, Segments::most> amends;
  Time at = 0;
  for (std::uint32_t i = 0; i < segments.count; ++i) {
    amends[i] = take_amend(segments.all[i], first);
    if (amends[i]) at = std::max(at, amends[i]->at);
  }
  for (std::uint32_t i = 0; i < segments.count; ++i) {
    if (!amends[i]) continue;
    if (at < amends[i]->before) {
      shorten_along(segments.all[i], amends[i]->amend);
    } else {
      work().amends.push_back(*amends[i]);
    }
  }
  return at;
}

// What is to be taken back of the message by `until`; it need not be sent by itself any more.
std::optional<TimedAmend> TrainPort::take_amend(const Segment& segment, Time until) {
  const auto found = std::ranges::find_if(work().amends, [&](const TimedAmend& one) {
    return one.amend.name == segment.name && one.amend.destination == segment.destination && one.at <= until;
  });
  if (found == work().amends.end()) return std::nullopt;
  const TimedAmend amend = *found;
  work().amends.erase(found);
  return amend;
}

void TrainPort::shorten_along(Segment& segment, const Amend& amend) {
  segment.shortens = true;
  segment.earlier = {amend.generation, amend.packets};
}

// What is told behind the link: with the first packet, or as soon as it takes back what was told before.
void TrainPort::forward(Segment& segment, PortSink& sink) {
  segment.times.delay(latency());
  Time at = segment.times.at(0, tables_->rate(segment.times.rate));
  // A packet by itself may be combined with others in a switch: it is there when it is told of.
  if (segment.times.count > 1) {
    if (const auto one = take_amend(segment, at)) {
      at = one->at;
      shorten_along(segment, one->amend);
    }
  }
  sink.forward(*this, at, segment);
}

// The shares have become shorter since they were announced as they were `before`.
void TrainPort::take_back(Time now, const std::vector<PlannedShare>& before) {
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto taker = static_cast<std::uint32_t>(i);
    const PacketTimes out = work().run.own ? turn_share(taker).out : work().run.together().shares[i].out;
    if (out.count < before[i].out.count) take_back(now, before[i], out);
  }
}

// Of a share that was announced as it was `before`, only `out` is left.
void TrainPort::take_back(Time now, const PlannedShare& before, const PacketTimes& out) {
  const Announced of = announced(before);
  if (!before.final && tables_->ends_behind(link_, of.destination)) return;
  const Time kept_until = out.count > 0 ? std::max(now, out.last) : now;
  amend_later(kept_until, before.out, {of.name, before.generation, of.destination, out.count});
}

// What is shortened twice in the same instant is amended once.
void TrainPort::amend_later(Time kept_until, const PacketTimes& told, const Amend& amend) {
  const Time before = told.at(amend.packets, tables_->rate(told.rate));
  const TimedAmend later{time_after(kept_until, latency()), time_after(before, latency()), amend};
  const auto earlier = std::ranges::find_if(
      work().amends, [&](const TimedAmend& one) { return one.amend.generation == amend.generation; });
  if (earlier == work().amends.end()) {
    work().amends.push_back(later);
  } else {
    *earlier = later;
  }
}

void TrainPort::send_amends(PortSink& sink) {
  for (const TimedAmend& one : work().amends) sink.amend(*this, one.at, one.amend);
  work().amends.clear();
}

}  // namespace tessera::sim
