// How a port plans: the next packets of whoever is next in turn, as many as nobody else's next packet comes before.
#include <algorithm>

#include "sim/laws/trains/train_port.hpp"

namespace tessera::sim {

void TrainPort::plan(Time now, pdes::ComponentId source, PortSink& sink) {
  state_.due = never;
  const Injector::Offer offer = work().own.offer();
  if (work().waiting.empty() && offer.message == nullptr) return;
  if (plan_mixed(offer)) return begin_shares(sink);
  const Turn own_turn{offer.time, self_, link_, 0};
  work().run.own = offer.message != nullptr && (work().waiting.empty() || own_turn < work().waiting.front().turn ||
                                                leaves_before_others_come(now, source, offer));
  if (work().run.own) {
    if (plan_turns(now, offer)) return begin_shares(sink);
    plan_own(offer);
  } else {
    const Turn* limit = offer.message == nullptr ? nullptr : &own_turn;
    if (plan_shares(limit)) return begin_shares(sink);
    plan_stream(pop_waiting(), limit);
  }
  begin_run(now, source, offer, sink);
}

// Whether the offered packet takes no whole picosecond, if the server is free now.
bool TrainPort::leaves_at_once(Time now, const Injector::Offer& offer) const {
  return offer.message != nullptr && offer.time <= now && offer.message->packets_left == 1 &&
         rate().up(offer.message->last_bytes) == 0;
}

// See flush().
bool TrainPort::leaves_before_others_come(Time now, pdes::ComponentId source, const Injector::Offer& offer) const {
  const Turn& next = work().waiting.front().turn;
  return next.time == now && next.component > source && leaves_at_once(now, offer) && state_.busy.end(rate()) <= now;
}

// What comes to an idle port: the common case, without looking at who else there is.
void TrainPort::plan_alone(Time now, std::uint32_t stream, PortSink& sink) {
  work().run.own = false;
  plan_stream(stream, nullptr);
  begin_run(now, self_, {}, sink);
}

void TrainPort::begin_run(Time now, pdes::ComponentId source, const Injector::Offer& offer, PortSink& sink) {
  TrainRun& run = work().run;
  const PacketTimes& out = run.service.out;
  const Time first = out.at(0, tables_->rate(out.rate));
  if (first == run.service.first_start && first > now) {
    // A packet that takes no whole picosecond leaves at its turn, not ahead of it: no amendment could overtake it.
    if (!run.own) push_waiting(run.stream);
    call_back(first, sink);
    return;
  }
  // Nor is it offered before the one before it has left, which is an event of this component.
  if (run.own && first <= now && work().own_left_at == now && source < self_) return call_back(now, sink);
  run.active = true;
  if (run.own) {
    announce(offer.message->waited_until, sink);
  } else {
    announce(work().streams[run.stream].waited_until, sink);
  }
  call_back(goes_on_at(), sink);
}

void TrainPort::begin_shares(PortSink& sink) {
  work().run.active = true;
  if (work().run.own) {
    work().run.together().turns.told = 0;
    announce_turns(sink);
  } else {
    announce_shares(sink);
  }
  call_back(goes_on_at(), sink);
}

void TrainPort::plan_own(const Injector::Offer& offer) {
  TrainRun& run = work().run;
  const OwnMessage& message = *offer.message;
  const std::int64_t packet = tables_->packet();
  const ServiceRates rates{rate(), link_, rate(), packet};
  std::uint32_t packets = offer.alone ? message.packets_left : 1;
  const std::int64_t last_bytes = packets == message.packets_left ? message.last_bytes : packet;
  run.service = serve_own(state_.busy, offer.time, packets, last_bytes, rates);
  run.offered = offer.time;
  if (packets > 1 && !work().waiting.empty()) {
    packets = packets_before(work().waiting.front().turn);
    if (packets < run.service.out.count) run.service = serve_own(state_.busy, offer.time, packets, packet, rates);
  }
  run.final = packets == message.packets_left;
  run.awaited = run.final && message.awaited;
  run.name = message.name;
  run.destination = message.destination;
  run.goes_on = message.goes_on;
  run.bytes = message.bytes;
  run.to_destination = tables_->ends_behind(link_, message.destination);
}

void TrainPort::plan_stream(std::uint32_t index, const Turn* own_turn) {
  TrainRun& run = work().run;
  const Stream& stream = work().streams[index];
  const PacketTimes& arrivals = stream.times;
  const Rate& arrival_rate = tables_->rate(arrivals.rate);
  const std::int64_t packet = tables_->packet();
  std::uint32_t packets = arrivals.count;
  const auto stay_before = [&](const Turn& turn) {
    const bool first_of_equals = turn_of(stream) < Turn{turn_of(stream).time, turn.component, turn.link, turn.ordinal};
    packets = std::min(packets, arrivals.until(first_of_equals ? turn.time : turn.time - 1, arrival_rate));
  };
  if (own_turn != nullptr) stay_before(*own_turn);
  if (!work().waiting.empty()) stay_before(work().waiting.front().turn);
  if (packets > 1 && work().stops_at_gaps &&
      is_behind_gap(arrivals.at(1, arrival_rate), free_behind(state_.busy.end(rate()), turn_of(stream).time)))
    packets = 1;
  run.service = serve(state_.busy, arrivals, packets, {rate(), link_, arrival_rate, packet});
  run.stream = index;
  run.awaited = false;
  run.final = stream.final && run.service.out.count == arrivals.count;
  run.name = stream.name;
  run.destination = stream.destination;
  run.goes_on = false;
  run.bytes = stream.bytes;
  run.to_destination = tables_->ends_behind(link_, stream.destination);
}

}  // namespace tessera::sim
