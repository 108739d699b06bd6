// How a port plans: the next packets of whoever is next in turn, as many as nobody else's next packet comes before.
#include <algorithm>

#include "sim/network/output_port.hpp"

namespace tessera::sim {

void OutputPort::plan(Time now, PortSink& sink) {
  state_.due = never;
  const Injector::Offer offer = state_.own.offer();
  if (state_.waiting.empty() && offer.message == nullptr) return;
  if (plan_mixed(offer)) return begin_shares(sink);
  const Turn own_turn{offer.time, self_, link_, 0};
  state_.run.own = offer.message != nullptr && (state_.waiting.empty() || own_turn < state_.waiting.front().turn);
  if (state_.run.own) {
    if (plan_turns(now, offer)) return begin_shares(sink);
    plan_own(offer);
  } else {
    const Turn* limit = offer.message == nullptr ? nullptr : &own_turn;
    if (plan_shares(limit)) return begin_shares(sink);
    plan_stream(pop_waiting(), limit);
  }
  begin_run(now, offer, sink);
}

// What comes to an idle port: the common case, without looking at who else there is.
void OutputPort::plan_alone(Time now, std::uint32_t stream, PortSink& sink) {
  state_.run.own = false;
  plan_stream(stream, nullptr);
  begin_run(now, {}, sink);
}

void OutputPort::begin_run(Time now, const Injector::Offer& offer, PortSink& sink) {
  const Law& out = state_.run.service.out;
  const Time first = out.at(0, tables_->rate(out.rate));
  if (first == state_.run.service.first_start && first > now) {
    // A packet that takes no whole picosecond leaves at its turn, not ahead of it: no amendment could overtake it.
    if (!state_.run.own) push_waiting(state_.run.stream);
    call_back(first, sink);
    return;
  }
  state_.run.active = true;
  if (state_.run.own) {
    announce(offer.message->waited_until, sink);
  } else {
    announce(state_.streams[state_.run.stream].segment.waited_until, sink);
  }
  call_back(work_left() ? out.last : never, sink);
}

void OutputPort::begin_shares(PortSink& sink) {
  state_.run.active = true;
  announce_shares(sink);
  call_back(work_left() ? state_.run.service.out.last : never, sink);
}

void OutputPort::plan_own(const Injector::Offer& offer) {
  const OwnMessage& message = *offer.message;
  const std::int64_t packet = tables_->packet();
  const ServiceRates rates{rate(), link_, rate(), packet};
  std::uint32_t packets = offer.alone && tables_->most_together() > 1 ? message.packets_left : 1;
  const std::int64_t last_bytes = packets == message.packets_left ? message.last_bytes : packet;
  state_.run.service = serve_own(state_.busy, offer.time, packets, last_bytes, rates);
  state_.run.offered = offer.time;
  if (packets > 1 && !state_.waiting.empty()) {
    packets = packets_before(state_.waiting.front().turn);
    if (packets < state_.run.service.out.count)
      state_.run.service = serve_own(state_.busy, offer.time, packets, packet, rates);
  }
  state_.run.final = packets == message.packets_left;
  state_.run.awaited = state_.run.final && message.awaited;
  state_.run.name = message.name;
  state_.run.destination = message.destination;
  state_.run.to_destination = tables_->link(link_).to == message.destination;
}

void OutputPort::plan_stream(std::uint32_t index, const Turn* own_turn) {
  const Stream& stream = state_.streams[index];
  const Segment& segment = stream.segment;
  const Law& arrivals = segment.law;
  const Rate& arrival_rate = tables_->rate(arrivals.rate);
  const std::int64_t packet = tables_->packet();
  std::uint32_t packets = std::min(arrivals.count, tables_->most_together());
  const auto stay_before = [&](const Turn& turn) {
    const bool first_of_equals = turn_of(stream) < Turn{turn_of(stream).time, turn.component, turn.link, turn.ordinal};
    packets = std::min(packets, arrivals.until(first_of_equals ? turn.time : turn.time - 1, arrival_rate));
  };
  if (own_turn != nullptr) stay_before(*own_turn);
  if (!state_.waiting.empty()) stay_before(state_.waiting.front().turn);
  state_.run.service = serve(state_.busy, arrivals, packets, {rate(), link_, arrival_rate, packet});
  state_.run.stream = index;
  state_.run.awaited = false;
  state_.run.final = segment.final && state_.run.service.out.count == arrivals.count;
  state_.run.name = segment.name;
  state_.run.destination = segment.destination;
  state_.run.to_destination = tables_->link(link_).to == segment.destination;
}

}  // namespace tessera::sim
