// What happens to a port: packets come, plans are cut, plans are done. How a plan is made: output_plan.cpp.
#include "sim/network/output_port.hpp"

#include <algorithm>
#include <tuple>

#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::sim {
namespace {

constexpr auto later = [](const auto& a, const auto& b) { return b.turn < a.turn; };

}  // namespace

bool OutputPort::Turn::operator<(const Turn& other) const {
  if (time != other.time) return time < other.time;
  if (component != other.component) return component < other.component;
  if (link != other.link) return link < other.link;
  return static_cast<std::int32_t>(ordinal - other.ordinal) < 0;
}

OutputPort::Turn OutputPort::turn_of(const Stream& stream) const {
  const Law& law = stream.segment.law;
  return {law.at(0, tables_->rate(law.rate)), stream.from, stream.segment.link, stream.ordinal};
}

Injector::Place OutputPort::post(Time now, const OwnMessage& message, Injector::Place before, PortSink& sink) {
  if (run_.active && run_.service.out.last <= now) complete_run(sink);
  // A message that follows another one changes nothing before that has left.
  if (run_.active && !own_.follows(message, before)) {
    if (run_.own) {
      cut(now, packets_chosen(now), sink);
    } else if (own_.empty()) {
      cut(now, packets_before({now, self_, link_, 0}), sink);
    }
  }
  return own_.post(message, before);
}

void OutputPort::arrive(Time now, pdes::ComponentId source, const Segment& segment, PortSink& sink) {
  if (run_.active && run_.service.out.last <= now) complete_run(sink);
  const std::uint32_t stream = add_stream(source, segment);
  if (!run_.active && waiting_.empty() && own_.empty()) return plan_alone(now, stream, sink);
  if (run_.active) cut(now, packets_before(turn_of(streams_[stream])), sink);
  push_waiting(stream);
  go_on(now, source, sink);
}

void OutputPort::amend(Time now, pdes::ComponentId source, const Amend& amend, PortSink& sink) {
  const auto named = [&](const Stream& stream) {
    return stream.segment.law.count > 0 && stream.segment.name == amend.name &&
           stream.segment.generation == amend.generation && stream.segment.destination == amend.destination;
  };
  const auto found = std::find_if(streams_.begin(), streams_.end(), named);
  // Cut twice, and the second time shorter: that amendment came first, and what it left may have been served since.
  if (found == streams_.end()) return;
  const auto index = static_cast<std::uint32_t>(found - streams_.begin());
  const std::uint32_t left = amend.packets - found->served;
  if (run_.active && !run_.own && run_.stream == index) cut(now, left, sink);
  Law& law = streams_[index].segment.law;
  law.truncate(left, tables_->rate(law.rate), tables_->packet());
  streams_[index].segment.final = false;
  if (left == 0) {
    remove_waiting(index);
    release_stream(index);
  }
  go_on(now, source, sink);
}

void OutputPort::wake(Time now, std::uint32_t token, PortSink& sink) {
  if (!call_pending_ || token != token_) return;
  call_pending_ = false;
  go_on(now, self_, sink);
}

void OutputPort::finish(PortSink& sink) {
  if (run_.active) complete_run(sink);
  if (!own_.empty() || !waiting_.empty()) throw InternalError("packets are left on " + std::to_string(link_));
}

Time OutputPort::departure(std::uint32_t stream, std::uint32_t batch) const {
  const std::uint32_t held = own_.held(stream, batch);
  if (held == 0) return 0;
  // Alone in line, a message that is planned to its end is the one that is asked for.
  const bool planned = run_.active && run_.own && run_.final && own_.messages() == 1;
  return planned ? run_.service.out.last : never;
}

// The packets of the run that come before a newcomer.
std::uint32_t OutputPort::packets_before(const Turn& turn) const {
  const Law& out = run_.service.out;
  if (run_.own) {
    const bool first_of_equals = self_ < turn.component;
    const Time bound = first_of_equals ? turn.time : turn.time - 1;
    if (run_.offered > bound) return 0;
    return 1 + std::min(out.count - 1, out.until(bound, tables_->rate(out.rate)));
  }
  const Stream& stream = streams_[run_.stream];
  const bool first_of_equals = std::tie(stream.from, stream.segment.link) <= std::tie(turn.component, turn.link);
  const Law& arrivals = stream.segment.law;
  const Time bound = first_of_equals ? turn.time : turn.time - 1;
  return std::min(out.count, arrivals.until(bound, tables_->rate(arrivals.rate)));
}

// The own packets of the run that were chosen before a message that becomes active now takes part.
std::uint32_t OutputPort::packets_chosen(Time now) const {
  const Law& out = run_.service.out;
  if (run_.offered > now) return 0;
  return 1 + std::min(out.count - 1, out.until(now, tables_->rate(out.rate)));
}

// Whether nothing that becomes known from now on can come before the last packet of the run.
bool OutputPort::certain(Time now, pdes::ComponentId source) const {
  const Law& out = run_.service.out;
  if (run_.own) {
    const Time turn = out.count == 1 ? run_.offered : out.at(out.count - 2, tables_->rate(out.rate));
    return turn < now || (turn == now && self_ <= source);
  }
  const Stream& stream = streams_[run_.stream];
  const Law& arrivals = stream.segment.law;
  const Time turn = arrivals.at(out.count - 1, tables_->rate(arrivals.rate));
  return turn < now || (turn == now && stream.from < source);
}

// Keeps the first packets of the run and takes the others back, at their turn again.
void OutputPort::cut(Time now, std::uint32_t packets, PortSink& sink) {
  Service& service = run_.service;
  Law& out = service.out;
  if (packets >= out.count) return;
  const Rate& out_rate = tables_->rate(out.rate);
  const std::int64_t packet = tables_->packet();
  const Time kept_until = packets > 0 ? std::max(now, out.at(packets - 1, out_rate)) : now;
  // A last packet that takes no whole picosecond has left with the one before it.
  if (packets + 1 == out.count && out.last <= kept_until) return;
  if (run_.takers > 1) {
    take_back_turns(now, packets, sink);
  } else if (!run_.to_destination || run_.final) {
    sink.amend(*this, time_after(kept_until, latency()), {run_.name, run_.generation, run_.destination, packets});
  }
  if (packets == 0) {
    run_.active = false;
    if (!run_.own) push_waiting(run_.stream);
    return;
  }
  const Law* arrivals = run_.own ? &out : &streams_[run_.stream].segment.law;
  service.after = service.behind(packets, *arrivals, tables_->rate(arrivals->rate), packet);
  service.rest = 0;
  service.last_apart = false;
  out.truncate(packets, out_rate, packet);
  run_.final = run_.awaited = false;
}

// Of messages that take turns, each keeps its part of the first packets.
void OutputPort::take_back_turns(Time now, std::uint32_t packets, PortSink& sink) {
  const Law& out = run_.service.out;
  for (std::uint32_t taker = 0; taker < run_.takers; ++taker) {
    const OwnMessage& message = own_.in_turn(taker, run_.takers);
    const std::uint32_t kept = turns_of(taker, packets);
    if (kept == turns_of(taker, out.count) || tables_->link(link_).to == message.destination) continue;
    const std::uint32_t last = (kept - 1) * run_.takers + taker;
    const Time kept_until = kept > 0 ? std::max(now, out.at(last, tables_->rate(out.rate))) : now;
    sink.amend(*this, time_after(kept_until, latency()),
               {message.name, run_.generation + taker, message.destination, kept});
  }
}

// Of the first `packets` of a run in which messages take turns, those of one of them.
std::uint32_t OutputPort::turns_of(std::uint32_t taker, std::uint32_t packets) const {
  return packets > taker ? (packets - 1 - taker) / run_.takers + 1 : 0;
}

// After every change: what is planned and certain is put behind, and the next plan is made or waited for.
void OutputPort::go_on(Time now, pdes::ComponentId source, PortSink& sink) {
  if (run_.active && (run_.service.out.last <= now || certain(now, source))) complete_run(sink);
  if (!run_.active) {
    plan(now, sink);
  } else if (work_left()) {
    call_back(run_.service.out.last, sink);
  }
  if (!waiting_.empty()) count_queue(now);
}

void OutputPort::call_back(Time at, PortSink& sink) {
  if (call_pending_ && call_at_ == at) return;
  call_pending_ = true;
  call_at_ = at;
  sink.wake(*this, at, ++token_);
}

// Whether something is left to plan behind the run.
bool OutputPort::work_left() const {
  if (run_.awaited) return true;
  if (!waiting_.empty()) return true;
  if (!run_.own) return !own_.empty() || streams_[run_.stream].segment.law.count > run_.service.out.count;
  return !run_.final || own_.messages() > 1;
}

void OutputPort::complete_run(PortSink& sink) {
  const Service& service = run_.service;
  const Law& out = service.out;
  const std::int64_t packet = tables_->packet();
  counts_.bytes += out.bytes(out.count, packet);
  counts_.messages += run_.final ? 1 : 0;
  counts_.busy += service.busy(rate(), tables_->rate(out.rate), packet);
  if (trace_ != nullptr) trace_run();
  busy_ = service.after;
  run_.active = false;
  if (run_.takers > 1) {
    own_.sent_in_turns(out.count, run_.takers, out.last);
  } else if (run_.own) {
    const OwnMessage& message = own_.sent(out.count, out.last);
    if (message.packets_left == 0) sink.left(message, out.last);
  } else {
    complete_stream_run();
  }
}

void OutputPort::trace_run() {
  const Law& out = run_.service.out;
  if (run_.takers <= 1) return trace_->packets_left(link_, run_.name, run_.destination, out);
  for (std::uint32_t i = 0; i < out.count; ++i) {
    Law one;
    one.last = out.at(i, tables_->rate(out.rate));
    one.last_bytes = tables_->packet();
    one.count = 1;
    const OwnMessage& message = own_.in_turn(i % run_.takers, run_.takers);
    trace_->packets_left(link_, message.name, message.destination, one);
  }
}

void OutputPort::complete_stream_run() {
  const Service& service = run_.service;
  const Law& out = service.out;
  Stream& stream = streams_[run_.stream];
  Law& law = stream.segment.law;
  const std::int64_t packet = tables_->packet();
  const Time last_arrival = law.at(out.count - 1, tables_->rate(law.rate));
  const std::int64_t behind =
      out.count - static_cast<std::int64_t>(out.until(last_arrival, tables_->rate(out.rate))) - 1;
  const std::int64_t backlog = rate().within(std::max<Time>(0, service.first_start - last_arrival));
  counts_.peak_queue =
      std::max(counts_.peak_queue, saturating_sum(std::max<std::int64_t>(0, behind * packet), backlog));
  stream.served += out.count;
  law.advance(out.count);
  if (law.count > 0) {
    push_waiting(run_.stream);
  } else {
    release_stream(run_.stream);
  }
}

// The flows that wait, once for as many changes as there are flows, so that crowds cost no more than pairs.
void OutputPort::count_queue(Time now) {
  if (++uncounted_ < waiting_.size()) return;
  uncounted_ = 0;
  const std::int64_t packet = tables_->packet();
  std::int64_t bytes = rate().within(std::max<Time>(0, free_at() - now));
  for (const Waiting& waiting : waiting_) {
    const Law& law = streams_[waiting.stream].segment.law;
    bytes = saturating_sum(bytes, law.bytes(law.until(now, tables_->rate(law.rate)), packet));
  }
  counts_.peak_queue = std::max(counts_.peak_queue, bytes - packet);
}

std::uint32_t OutputPort::add_stream(pdes::ComponentId from, const Segment& segment) {
  const Stream added{segment, 0, from, next_ordinal_++};
  if (unused_streams_.empty()) {
    streams_.push_back(added);
    return static_cast<std::uint32_t>(streams_.size() - 1);
  }
  const std::uint32_t index = unused_streams_.back();
  unused_streams_.pop_back();
  streams_[index] = added;
  return index;
}

void OutputPort::release_stream(std::uint32_t stream) {
  streams_[stream].segment.law.count = 0;
  unused_streams_.push_back(stream);
}

void OutputPort::push_waiting(std::uint32_t stream) {
  waiting_.push_back({turn_of(streams_[stream]), stream});
  std::push_heap(waiting_.begin(), waiting_.end(), later);
}

std::uint32_t OutputPort::pop_waiting() {
  std::pop_heap(waiting_.begin(), waiting_.end(), later);
  const std::uint32_t stream = waiting_.back().stream;
  waiting_.pop_back();
  return stream;
}

void OutputPort::remove_waiting(std::uint32_t stream) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(),
                                  [stream](const Waiting& waiting) { return waiting.stream == stream; });
  if (found == waiting_.end()) return;
  waiting_.erase(found);
  std::make_heap(waiting_.begin(), waiting_.end(), later);
}

}  // namespace tessera::sim
