// What happens to a port: messages are posted, plans are cut, plans are done. What comes: train_arrivals.cpp; how a
// plan is made: train_plan.cpp; what is told of it: train_announce.cpp.
#include "sim/laws/trains/train_port.hpp"

#include <algorithm>
#include <tuple>

#include "tessera/base/error.hpp"

namespace tessera::sim {

MakePort train_ports() {
  return [](const NetworkTables& tables, machine::LinkId link, pdes::ComponentId self, PacketTrace* trace) {
    return std::make_unique<TrainPort>(tables, link, self, trace);
  };
}

TrainPort::Turn TrainPort::turn_of(const Stream& stream) const {
  const PacketTimes& times = stream.times;
  return {times.at(0, tables_->rate(times.rate)), stream.from, stream.link, stream.ordinal};
}

Injector::Ticket TrainPort::post(Time now, const OwnMessage& message, Injector::Ticket before, PortSink& sink) {
  TrainWork& work = state_.work.make();
  if (work.run.active && work.run.service.out.last <= now) complete_run(sink);
  if (has_left(before, now)) before = Injector::no_ticket;
  // A message that follows another one changes nothing before that has left.
  if (work.run.active && !work.own.follows(message, before)) cut_for_newcomer(now);
  return work.own.post(message, before);
}

// Own packets that have not been chosen are planned anew, with what is posted now.
void TrainPort::cut_for_newcomer(Time now) {
  if (work().run.own) {
    work().run.takes_turns() ? cut_turns(now, turns_chosen(now)) : cut(now, packets_chosen(now));
  } else if (work().run.is_mixed()) {
    cut_mixed(now, {now, self_, link_, 1});  // behind an own packet that is chosen now
  } else if (work().own.empty()) {
    cut_before(now, {now, self_, link_, 0});
  }
}

void TrainPort::withhold_last(Time now, Injector::Ticket place, PortSink& sink) {
  if (work().run.active && work().run.service.out.last <= now) complete_run(sink);
  if (work().run.active) cut_for_newcomer(now);
  TrainRun& run = work().run;
  const OwnMessage message = work().own.at(place);
  // A message that takes turns is in line until those of the run are over, with no packet left if need be.
  work().own.withhold_last(place, tables_->packet(), run.active && run.takes_turns());
  const bool is_planned =
      run.active && run.own && !run.takes_turns() && run.name == message.name && run.destination == message.destination;
  if (!is_planned) return;
  run.goes_on = true;
  run.final = run.service.out.count + 1 == message.packets_left;
}

// Of what is known to come in this picosecond, what comes by events of higher components is not there yet: an own
// packet that takes no whole picosecond has left by then.
void TrainPort::flush(Time now, pdes::ComponentId source, PortSink& sink) {
  const bool passes = work().run.active && !work().run.own && !work().run.is_mixed();
  if (passes && leaves_at_once(now, work().own.offer())) cut_before(now, {now, source + 1, 0, 0});
  go_on(now, source, sink);
}

void TrainPort::wake(Time now, std::uint32_t token, PortSink& sink) {
  if (!state_.call_pending || token != state_.token) return;
  state_.call_pending = false;
  if (state_.due > now) return call_back(state_.due, sink);
  if (work().came_at != now) work().stops_at_gaps = false;
  go_on(now, self_, sink);
}

bool TrainPort::settle(Time now, PortSink& sink) {
  if (!state_.work.is_made()) return true;
  if (work().run.active && work().run.service.out.last <= now && !work_left()) complete_run(sink);
  if (!is_idle()) return false;
  state_.due = never;
  state_.call_pending = false;  // nothing is left for it
  return true;
}

void TrainPort::passed(const BusyPeriod& busy, const LinkCounts& counts, const ShortEnds& short_ends, Time own_left) {
  state_.busy = busy;
  state_.counts.add(counts);
  if (!short_ends.bytes.empty()) state_.work.make().short_ends = short_ends;
  if (own_left > 0) state_.work.make().own.begin_behind(own_left);
}

void TrainPort::finish(PortSink& sink) {
  if (!state_.work.is_made()) return;
  if (work().run.active) complete_run(sink);
  if (!is_idle()) throw InternalError("packets are left on " + std::to_string(link_));
}

Time TrainPort::departure(std::uint32_t stream, std::uint32_t batch) const {
  if (!state_.work.is_made()) return 0;
  const std::uint32_t held = work().own.held(stream, batch);
  if (held == 0) return 0;
  if (work().run.active && work().run.takes_turns()) return turns_departure(stream, batch, held);
  // Alone in line, a message that is planned to its end is the one that is asked for.
  const bool planned = work().run.active && work().run.own && work().run.final && work().own.messages() == 1;
  return planned ? work().run.service.out.last : never;
}

// The packets of the run that come before a newcomer.
std::uint32_t TrainPort::packets_before(const Turn& turn) const {
  const TrainRun& run = work().run;
  const PacketTimes& out = run.service.out;
  if (run.own) {
    const bool first_of_equals = self_ < turn.component;
    const Time bound = first_of_equals ? turn.time : turn.time - 1;
    if (run.offered > bound) return 0;
    return 1 + std::min(out.count - 1, out.until(bound, tables_->rate(out.rate)));
  }
  const Stream& stream = work().streams[run.stream];
  const bool first_of_equals = std::tie(stream.from, stream.link) <= std::tie(turn.component, turn.link);
  const PacketTimes& arrivals = stream.times;
  const Time bound = first_of_equals ? turn.time : turn.time - 1;
  return std::min(out.count, arrivals.until(bound, tables_->rate(arrivals.rate)));
}

// The own packets of the run that were chosen before a message that becomes active now takes part.
std::uint32_t TrainPort::packets_chosen(Time now) const {
  const PacketTimes& out = work().run.service.out;
  if (work().run.offered > now) return 0;
  return 1 + std::min(out.count - 1, out.until(now, tables_->rate(out.rate)));
}

// Whether nothing that becomes known from now on can come before the last packet of the run.
bool TrainPort::certain(Time now, pdes::ComponentId source) const {
  const TrainRun& run = work().run;
  if (run.has_shares()) {
    const Turn& last = run.together().last_turn;
    const bool comes_before = last.component == self_ ? self_ <= source : last.component < source;
    return last.time < now || (last.time == now && comes_before);
  }
  const PacketTimes& out = run.service.out;
  if (run.own) {
    const Time turn = out.count == 1 ? run.offered : out.at(out.count - 2, tables_->rate(out.rate));
    return turn < now || (turn == now && self_ <= source);
  }
  const Stream& stream = work().streams[run.stream];
  const PacketTimes& arrivals = stream.times;
  const Time turn = arrivals.at(out.count - 1, tables_->rate(arrivals.rate));
  return turn < now || (turn == now && stream.from < source);
}

// Keeps the packets of the run that come before a newcomer.
void TrainPort::cut_before(Time now, const Turn& turn) {
  if (work().run.is_mixed()) return cut_mixed(now, turn);
  if (work().run.has_shares()) return work().run.own ? cut_turns(now, turns_before(turn)) : cut_shares(now, turn);
  cut(now, packets_before(turn));
}

// Keeps the first packets of the run and takes the others back, at their turn again.
void TrainPort::cut(Time now, std::uint32_t packets) {
  TrainRun& run = work().run;
  Service& service = run.service;
  PacketTimes& out = service.out;
  if (packets >= out.count) return;
  const Rate& out_rate = tables_->rate(out.rate);
  const std::int64_t packet = tables_->packet();
  const Time kept_until = packets > 0 ? std::max(now, out.at(packets - 1, out_rate)) : now;
  // A last packet that takes no whole picosecond has left with the one before it.
  if (packets + 1 == out.count && out.last <= kept_until) return;
  if (!run.to_destination || run.final) {
    amend_later(kept_until, out, {run.name, run.generation, run.destination, packets});
  }
  if (packets == 0) {
    run.active = false;
    if (!run.own) push_waiting(run.stream);
    return;
  }
  const PacketTimes* arrivals = run.own ? &out : &work().streams[run.stream].times;
  service.after = service.behind(packets, *arrivals, tables_->rate(arrivals->rate), packet);
  service.rest = 0;
  service.last_apart = false;
  out.truncate(packets, out_rate, packet);
  run.final = run.awaited = false;
}

// After every change. What takes no whole picosecond has left: what is behind it does not wait for another event.
void TrainPort::go_on(Time now, pdes::ComponentId source, PortSink& sink) {
  plan_next(now, source, sink);
  while (work().run.active && work().run.service.out.last <= now) {
    complete_run(sink);
    plan(now, source, sink);
  }
  send_amends(sink);
}

// What is planned and certain is put behind, and the next plan is made or waited for.
void TrainPort::plan_next(Time now, pdes::ComponentId source, PortSink& sink) {
  TrainRun& run = work().run;
  if (run.active && (run.service.out.last <= now || certain(now, source))) complete_run(sink);
  if (run.active) {
    if (next_turns_at() <= now) announce_turns(sink);
    call_back(goes_on_at(), sink);
  } else {
    plan(now, source, sink);
  }
}

void TrainPort::call_back(Time at, PortSink& sink) {
  state_.due = at;
  if (at == never || (state_.call_pending && state_.call_at <= at)) return;
  state_.call_pending = true;
  state_.call_at = at;
  sink.wake(*this, at, ++state_.token);
}

// Whether something is left to plan behind the run.
bool TrainPort::work_left() const {
  const TrainRun& run = work().run;
  if (run.awaited || next_turns_at() != never) return true;
  if (!work().waiting.empty()) return true;
  if (run.takes_turns()) return work().own.messages() > turns_that_end();
  if (run.has_shares()) return run.together().next != never || !work().own.empty();
  if (!run.own) return !work().own.empty() || work().streams[run.stream].times.count > run.service.out.count;
  return !run.final || work().own.messages() > 1;
}

// When the port has to go on by itself: when the run is over and the next known packet is there.
Time TrainPort::goes_on_at() const {
  const TrainRun& run = work().run;
  if (next_turns_at() != never) return next_turns_at();
  if (!work_left()) return never;
  if (run.own || run.is_mixed() || !work().own.empty()) return run.service.out.last;
  return std::max(run.service.out.last, next_known());
}

// When the next packet comes of a stream, behind a run of streams.
Time TrainPort::next_known() const {
  const TrainRun& run = work().run;
  Time next = work().waiting.empty() ? never : work().waiting.front().turn.time;
  if (run.has_shares()) return std::min(next, run.together().next);
  const PacketTimes& times = work().streams[run.stream].times;
  if (run.service.out.count < times.count)
    next = std::min(next, times.at(run.service.out.count, tables_->rate(times.rate)));
  return next;
}

// Whether others may come before a packet, and leave before it comes, where the server is free from then on.
bool TrainPort::is_behind_gap(Time turn, Time free) const { return turn - free >= rate().up(tables_->packet()); }

void TrainPort::complete_run(PortSink& sink) {
  put_behind();
  TrainRun& run = work().run;
  const Service& service = run.service;
  if (run.has_shares()) return complete_shares(sink);
  const PacketTimes& out = service.out;
  const std::int64_t packet = tables_->packet();
  state_.counts.bytes += out.bytes(out.count, packet);
  state_.counts.messages += run.final && !run.goes_on ? 1 : 0;
  state_.counts.alone += out.count == 1 && !run.final ? 1 : 0;
  state_.counts.busy += service.busy(rate(), tables_->rate(out.rate), packet);
  if (trace_ != nullptr) trace_->packets_left(link_, run.name, run.destination, out);
  run.active = false;
  if (run.own) {
    if (service.first_start < out.last) work().own_left_at = out.last;
    const OwnMessage& message = work().own.sent(out.count, out.last);
    if (message.packets_left == 0) sink.left(message, out.last);
  } else {
    complete_stream_run();
  }
}

void TrainPort::complete_shares(PortSink& sink) {
  while (next_turns_at() != never) announce_turns(sink);
  work().run.active = false;
  if (work().run.own) return complete_turns(sink);
  count_shares(work().run.together().shares);
  work().run.is_mixed() ? complete_mixed() : complete_merged();
}

void TrainPort::complete_stream_run() {
  const TrainRun& run = work().run;
  const PacketTimes& out = run.service.out;
  Stream& stream = work().streams[run.stream];
  PacketTimes& times = stream.times;
  stream.served += out.count;
  times.advance(out.count);
  if (times.count > 0) {
    push_waiting(run.stream);
  } else {
    release_stream(run.stream);
  }
}

}  // namespace tessera::sim
