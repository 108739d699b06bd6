// How a port plans: the next packets of whoever is next in turn, as many as nobody else's next packet comes before.
#include <algorithm>

#include "sim/network/output_port.hpp"

namespace tessera::sim {

void OutputPort::plan(Time now, PortSink& sink) {
  const Injector::Offer offer = own_.offer();
  if (waiting_.empty() && offer.message == nullptr) return;
  const Turn own_turn{offer.time, self_, link_, 0};
  run_.own = offer.message != nullptr && (waiting_.empty() || own_turn < waiting_.front().turn);
  if (run_.own) {
    plan_own(offer);
  } else {
    plan_stream(pop_waiting(), offer.message == nullptr ? nullptr : &own_turn);
  }
  begin_run(now, offer, sink);
}

// What comes to an idle port: the common case, without looking at who else there is.
void OutputPort::plan_alone(Time now, std::uint32_t stream, PortSink& sink) {
  run_.own = false;
  plan_stream(stream, nullptr);
  begin_run(now, {}, sink);
}

void OutputPort::begin_run(Time now, const Injector::Offer& offer, PortSink& sink) {
  const Law& out = run_.service.out;
  const Time first = out.at(0, tables_->rate(out.rate));
  if (first == run_.service.first_start && first > now) {
    // A packet that takes no whole picosecond leaves at its turn, not ahead of it: no amendment could overtake it.
    if (!run_.own) push_waiting(run_.stream);
    call_back(first, sink);
    return;
  }
  run_.active = true;
  if (run_.takers > 1) {
    announce_turns(sink);
  } else if (run_.own) {
    announce(offer.message->waited_until, sink);
  } else {
    announce(streams_[run_.stream].segment.waited_until, sink);
  }
  if (work_left()) call_back(out.last, sink);
}

void OutputPort::plan_own(const Injector::Offer& offer) {
  const OwnMessage& message = *offer.message;
  const std::int64_t packet = tables_->packet();
  const ServiceRates rates{rate(), link_, rate(), packet};
  const std::uint32_t rounds = offer.alone ? 0 : own_.whole_rounds();
  run_.takers = rounds > 0 ? static_cast<std::uint32_t>(own_.active()) : 1;
  std::uint32_t packets = offer.alone ? message.packets_left : std::max(1U, rounds * run_.takers);
  const std::int64_t last_bytes = packets == message.packets_left && run_.takers == 1 ? message.last_bytes : packet;
  run_.service = serve_own(busy_, offer.time, packets, last_bytes, rates);
  run_.offered = offer.time;
  if (packets > 1 && !waiting_.empty()) {
    packets = packets_before(waiting_.front().turn);
    if (packets < run_.service.out.count) run_.service = serve_own(busy_, offer.time, packets, packet, rates);
  }
  run_.final = packets == message.packets_left && run_.takers == 1;
  run_.awaited = run_.final && message.awaited;
  run_.name = message.name;
  run_.destination = message.destination;
  run_.to_destination = tables_->link(link_).to == message.destination;
}

void OutputPort::plan_stream(std::uint32_t index, const Turn* own_turn) {
  const Stream& stream = streams_[index];
  const Segment& segment = stream.segment;
  const Law& arrivals = segment.law;
  const Rate& arrival_rate = tables_->rate(arrivals.rate);
  const std::int64_t packet = tables_->packet();
  std::uint32_t packets = arrivals.count;
  const auto stay_before = [&](const Turn& turn) {
    const bool first_of_equals = turn_of(stream) < Turn{turn_of(stream).time, turn.component, turn.link, turn.ordinal};
    packets = std::min(packets, arrivals.until(first_of_equals ? turn.time : turn.time - 1, arrival_rate));
  };
  if (own_turn != nullptr) stay_before(*own_turn);
  if (!waiting_.empty()) stay_before(waiting_.front().turn);
  run_.service = serve(busy_, arrivals, packets, {rate(), link_, arrival_rate, packet});
  run_.stream = index;
  run_.takers = 1;
  run_.awaited = false;
  run_.final = segment.final && run_.service.out.count == arrivals.count;
  run_.name = segment.name;
  run_.destination = segment.destination;
  run_.to_destination = tables_->link(link_).to == segment.destination;
}

void OutputPort::announce(Time waited_until, PortSink& sink) {
  const Law& out = run_.service.out;
  if (run_.to_destination && !run_.final) return;  // the destination counts whole messages
  run_.generation = next_generation_++;
  if (run_.to_destination) {
    sink.deliver(*this, time_after(out.last, latency()), run_.destination, {run_.name, run_.generation, waited_until});
    return;
  }
  Segment segment{run_.name, run_.generation, run_.destination, link_, waited_until, out, run_.final};
  segment.law.delay(latency());
  sink.forward(*this, time_after(out.at(0, tables_->rate(out.rate)), latency()), segment);
}

// Every message that takes turns goes on as a segment of its own, whose packets lie a round apart.
void OutputPort::announce_turns(PortSink& sink) {
  const Law& out = run_.service.out;
  run_.generation = next_generation_;
  next_generation_ += run_.takers;
  for (std::uint32_t taker = 0; taker < run_.takers; ++taker) {
    const OwnMessage& message = own_.in_turn(taker, run_.takers);
    const std::uint32_t packets = turns_of(taker, out.count);
    if (packets == 0 || tables_->link(link_).to == message.destination) continue;
    Law law = out;
    law.offset += taker * out.stride;
    law.stride *= run_.takers;
    law.count = packets;
    law.last = out.at((packets - 1) * run_.takers + taker, tables_->rate(out.rate));
    const Time first = time_after(law.at(0, tables_->rate(out.rate)), latency());
    law.delay(latency());
    sink.forward(*this, first,
                 {message.name, run_.generation + taker, message.destination, link_, message.waited_until, law, false});
  }
}

}  // namespace tessera::sim
