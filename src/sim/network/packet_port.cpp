// A packet takes its place when its last byte has come. When the server is free, and all of that picosecond has
// happened, the arbitration chooses the packet that begins; it leaves when its bytes have passed, and comes to the node
// behind the link a latency later. A packet that takes no whole picosecond leaves at once, whatever else may come.
#include "sim/network/packet_port.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {

MakePort packet_ports(const std::string& arbitration) {
  for (const PortArbitrationKind& kind : port_arbitration_kinds()) {
    if (kind.name != arbitration) continue;
    return [policy = kind.policy](const NetworkTables& tables, machine::LinkId link, pdes::ComponentId self,
                                  PacketTrace* trace) {
      return std::make_unique<PacketPort>(tables, link, self, trace, policy);
    };
  }
  throw InputError(config::unknown("arbitration", arbitration, config::names_of(port_arbitration_kinds())));
}

Injector::Ticket PacketPort::post(Time now, const OwnMessage& message, Injector::Ticket before, PortSink& sink) {
  pass_moments_before(now, sink);
  return state_.own.post(message, before);
}

void PacketPort::flush(Time now, pdes::ComponentId, PortSink& sink) { serve(now, sink); }

bool PacketPort::arrive(Time now, pdes::ComponentId source, const Segment& segment, PortSink& sink) {
  if (segment.times.count != 1 || segment.shortens) throw InternalError("packets come together where each goes alone");
  pass_moments_before(now, sink);
  queue({{now, source, segment.link, state_.next_ordinal++},
         segment.name,
         segment.destination,
         segment.waited_until,
         segment.bytes,
         static_cast<std::uint32_t>(segment.times.last_bytes),
         segment.final,
         false,
         false});
  serve(now, sink);
  return true;
}

void PacketPort::wake(Time now, std::uint32_t token, PortSink& sink) {
  if (!state_.call_pending || token != state_.token) return;
  state_.call_pending = false;
  pass_moments_before(now, sink);
  if (state_.own_leaves <= now) own_packet_left(now, sink);
  serve(now, sink);
}

// Of moments that are over, what begun has begun for good, and the queue was as it is.
void PacketPort::pass_moments_before(Time now, PortSink& sink) {
  if (state_.begun && state_.begun->begun < now) tell(sink);
  if (state_.changed_at == now) return;
  state_.counts.peak_queue = std::max(state_.counts.peak_queue, state_.waiting_bytes);
  state_.changed_at = now;
}

// One packet of the device's own at a time: the next one when that has left.
void PacketPort::offer() {
  const Injector::Offer next = state_.own.offer();
  if (state_.offered || next.message == nullptr) return;
  const OwnMessage& message = *next.message;
  const bool last = message.packets_left == 1;
  state_.offered = true;
  queue({{next.time, self_, link_, 0},
         message.name,
         message.destination,
         message.waited_until,
         message.bytes,
         static_cast<std::uint32_t>(last ? message.last_bytes : tables_->packet()),
         last && !message.goes_on,
         true,
         last});
}

void PacketPort::queue(const QueuedPacket& packet) {
  auto place = state_.waiting.end();
  while (place != state_.waiting.begin() && packet.turn < std::prev(place)->turn) --place;
  state_.waiting.insert(place, packet);
  state_.waiting_bytes += packet.bytes;
}

// What has begun in this picosecond is chosen anew, with what has come since.
void PacketPort::serve(Time now, PortSink& sink) {
  for (;;) {
    offer();
    if (state_.begun) put_back();
    if (state_.waiting.empty() || free_at() > now) break;
    begin_next(now);
    if (state_.begun->leaves > now) break;
    const bool own = state_.begun->packet.own;
    tell(sink);
    if (own) own_packet_left(now, sink);
  }
  call_back(sink);
}

void PacketPort::begin_next(Time now) {
  const std::size_t place = arbitration_->choose(state_.waiting, state_.latest);
  BegunPacket& begun = state_.begun.emplace();
  begun.packet = state_.waiting[place];
  begun.begun = now;
  begun.before = with_room(state_.busy, rate());
  begun.latest_before = state_.latest;
  state_.waiting.erase(state_.waiting.begin() + static_cast<std::ptrdiff_t>(place));
  state_.waiting_bytes -= begun.packet.bytes;
  state_.busy = free_at() < now ? BusyPeriod{now, 0} : begun.before;
  state_.busy.bytes += begun.packet.bytes;
  state_.latest = begun.packet.turn.link;
  begun.leaves = free_at();
}

void PacketPort::put_back() {
  state_.busy = state_.begun->before;
  state_.latest = state_.begun->latest_before;
  queue(state_.begun->packet);
  state_.begun.reset();
}

// Nothing can come before it any more.
void PacketPort::tell(PortSink& sink) {
  const auto [packet, begun, leaves, before, latest] = *std::exchange(state_.begun, std::nullopt);
  state_.counts.bytes += packet.bytes;
  state_.counts.messages += packet.final ? 1 : 0;
  state_.counts.alone += packet.final ? 0 : 1;
  state_.counts.busy += leaves - begun;
  PacketTimes times{leaves, 0, tables_->packet(), leaves, packet.bytes, 1, link_};
  if (trace_ != nullptr) trace_->packets_left(link_, packet.name, packet.destination, times);
  if (packet.own) {
    state_.own_leaves = leaves;
    state_.own_ends = packet.own_ends;
  }
  if (!tables_->ends_behind(link_, packet.destination)) {
    times.delay(latency());
    sink.forward(*this, times.last,
                 {packet.name,
                  0,
                  packet.destination,
                  link_,
                  packet.waited_until,
                  times,
                  packet.final,
                  false,
                  {},
                  packet.message_bytes});
  } else if (packet.final) {
    sink.deliver(*this, time_after(leaves, latency()), packet.destination, {packet.name, 0, packet.waited_until});
  }
}

void PacketPort::own_packet_left(Time now, PortSink& sink) {
  state_.offered = false;
  state_.own_leaves = never;
  const OwnMessage& message = state_.own.sent(1, now);
  if (message.packets_left == 0) sink.left(message, now);
}

Time PacketPort::next_announcement() const {
  if (state_.begun) return state_.begun->begun + 1;
  Time next = state_.waiting.empty() ? never : free_at();
  const bool has_more = !state_.own_ends || state_.own.messages() > 1;
  if (state_.own_leaves != never && has_more) next = std::min(next, state_.own_leaves);
  return next;
}

void PacketPort::call_back(PortSink& sink) {
  const Time due = std::min(next_announcement(), state_.own_leaves);
  if (due == never || (state_.call_pending && state_.call_at <= due)) return;
  state_.call_pending = true;
  state_.call_at = due;
  sink.wake(*this, due, ++state_.token);
}

Time PacketPort::departure(std::uint32_t stream, std::uint32_t batch) const {
  const std::uint32_t held = state_.own.held(stream, batch);
  if (held == 0) return 0;
  const bool goes = state_.own_leaves != never || (state_.begun && state_.begun->packet.own);
  if (held > 1 || !goes) return never;
  const OwnMessage& message = *state_.own.offer().message;
  const bool is_asked_for = message.stream == stream && (batch == any_batch || message.batch == batch);
  if (!is_asked_for || message.packets_left > 1) return never;
  return state_.own_leaves != never ? state_.own_leaves : state_.begun->leaves;
}

void PacketPort::finish(PortSink& sink) {
  pass_moments_before(never, sink);
  if (!state_.waiting.empty() || !state_.own.empty())
    throw InternalError("packets are left on " + std::to_string(link_));
}

std::uint32_t PacketPort::arrive(Time, pdes::ComponentId, const Segments&, std::uint32_t, PortSink&) {
  throw InternalError("messages are told together where each packet goes alone");
}

void PacketPort::withhold_last(Time, Injector::Ticket, PortSink&) {
  throw InternalError("a packet is withheld where each is posted when it may be sent");
}

bool PacketPort::amend(Time, pdes::ComponentId, const Amend&, PortSink&) {
  throw InternalError("a packet is taken back where each is told when it is certain");
}

}  // namespace tessera::sim
