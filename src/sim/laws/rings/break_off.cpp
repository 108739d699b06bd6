// A ring whose links get something else to carry: from laws to messages.
#include <algorithm>
#include <utility>

#include "sim/laws/fold/fold.hpp"
#include "sim/laws/fold/shift.hpp"
#include "sim/laws/rings/ring.hpp"
#include "sim/laws/rings/trial_ports.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

/// In the name of whoever has announced them, what ports still have to be told. `end`: messages delivered before have
/// been, but for the last `tied` of them.
void resend(pdes::Context& context, const Moment& end, std::uint32_t tied,
            const std::vector<WayPorts::Announced>& announced, const std::vector<pdes::ComponentId>& servers,
            const std::vector<std::uint32_t>& ports, program::DeviceId destination) {
  const auto is_over = [&end](const WayPorts::Announced& one) {
    return one.kind == WayPorts::Announced::Kind::delivered && one.at < end;
  };
  auto over = std::ranges::count_if(announced, is_over) - std::ptrdiff_t{tied};
  for (const WayPorts::Announced& one : announced) {
    if (is_over(one) && over-- > 0) continue;
    pdes::Context own = context.of(one.by);
    switch (one.kind) {
      case WayPorts::Announced::Kind::segment:
        own.resend_as(one.at.source, servers[one.to], one.at.time, one.segment);
        break;
      case WayPorts::Announced::Kind::delivered:
        own.resend_as(one.at.source, destination, one.at.time, one.delivered);
        break;
      case WayPorts::Announced::Kind::amend:
        own.resend_as(one.at.source, destination, one.at.time, one.amend);
        break;
      case WayPorts::Announced::Kind::wake:
        own.resend(servers[one.to], one.at.time, PortWake{ports[one.to], one.token});
        break;
    }
  }
}

}  // namespace

/// What is done for one way and one member at a time.
struct RingLaws::Breaking {
  pdes::Context* context;
  Ring& ring;
  Interruption by;
  Moment end;                                       ///< behind it: what a member waits for may be this event
  std::vector<std::vector<StepProgress>> progress;  ///< by run and seat
  std::vector<Injector::Ticket> places;             ///< of the last message in line, by way

  /// By seat: those of the device whose event it is that have not gone on in it; empty: none.
  [[nodiscard]] std::vector<bool> seats_to_come(std::size_t number) const {
    if (by.stream == any_stream) return {};
    std::vector<bool> to_come(shape().seats());
    for (std::uint32_t seat = 0; seat < shape().seats(); ++seat) to_come[seat] = is_to_come(number, seat);
    return to_come;
  }
  [[nodiscard]] bool is_to_come(std::size_t number, std::uint32_t seat) const {
    const Run& run = ring.runs[number];
    const std::uint32_t rank = shape().rank(seat);
    return by.stream != any_stream && shape().members[rank] == by.event.source &&
           run.senders[seat].stream.index > by.stream && run.members[rank].stream != by.stream &&
           run.entries[rank].at != by.event && !has_left(number, rank);
  }
  [[nodiscard]] bool has_left(std::size_t number, std::uint32_t rank) const {
    return ring.left[rank] - ring.first > number;
  }
  [[nodiscard]] const RingParts& parts() const { return ring.track->parts; }
  [[nodiscard]] const RingShape& shape() const { return parts().shape; }
  [[nodiscard]] const StepProgress& progress_of(std::size_t number, std::uint32_t way) const {
    return progress[number][way % shape().seats()];
  }
  /// StepProgress::Slot::tied, of all runs.
  [[nodiscard]] std::uint32_t tied(std::uint32_t way) const {
    std::uint32_t tied = 0;
    for (std::size_t number = 0; number < progress.size(); ++number)
      tied += progress_of(number, way).slots[way / shape().seats()].tied;
    return tied;
  }
  /// Messages that have been posted on a way in a run.
  [[nodiscard]] std::uint32_t posted(std::size_t number, std::uint32_t way) const {
    return progress_of(number, way).slots[way / shape().seats()].sent;
  }
  /// What a seat has sent and received in a run on a way, for what it has posted.
  [[nodiscard]] TakenMessages messages(std::size_t number, std::uint32_t way) const {
    TakenMessages messages{ring.channel(way), parts().receiver(way)};
    const std::uint32_t steps = progress_of(number, way).posted;
    if (steps == 0) return messages;
    const RingWork& work = *ring.runs[number].work;
    const RingSum sent = sent_on(work, shape(), parts().senders, way, steps);
    messages.count = sent.messages;
    messages.sent = sent.bytes;
    messages.received = sent_on(work, shape(), parts().senders, parts().way_before(way), steps).bytes;
    return messages;
  }
};

void RingLaws::break_off(pdes::Context* context, Ring& ring, const Interruption& by) {
  const Moment &event = by.event, end{event.time, event.source + 1};
  Breaking breaking{context, ring, by, end, {}, {}};
  const bool ends_known = !ring.runs.empty() && !ring.runs.front().ends.empty();
  for (RingWay& path : ring.track->parts.ways) ends_known || ring.is_part ? path.rewind() : path.mark();
  for (std::size_t number = 0; number < ring.runs.size(); ++number) {
    const Run& run = ring.runs[number];
    breaking.progress.push_back(
        progress_at(event, breaking.seats_to_come(number), ring.track->parts, *run.work, run.inputs()));
  }
  ring.track->owner = nullptr;
  for (std::uint32_t way = 0; way < breaking.shape().ways(); ++way)
    breaking.places.push_back(fill_ports(breaking, way));
  for (std::uint32_t rank = 0; rank < ring.size; ++rank) {
    for (std::size_t number = 0; number < ring.runs.size(); ++number) tell_member(breaking, rank, number);
  }
  for (Run& run : ring.runs) run.is_law = false;
  ++ring.broken_off;
}

// Of what goes from hop to hop where other hops are simulated for these. Whoever wants to know what comes has not been
// told of what was the ring's alone.
WayPorts::Rename RingLaws::renaming(const std::vector<std::uint32_t>& shifts,
                                    const std::vector<pdes::ComponentId>& servers, Time now) const {
  if (fold_ == nullptr) return {};
  return [this, &servers, shifts, now](WayPorts::Announced& announced, std::size_t from) {
    const std::uint32_t order = fold_->order(), back = (shifts[from] + order - shifts[from + 1]) % order;
    announced.at.source = fold_->shifted(announced.by, back);
    if (announced.kind == WayPorts::Announced::Kind::delivered) shift(announced.delivered, *fold_, back);
    if (announced.kind != WayPorts::Announced::Kind::segment) return;
    shift(announced.segment, *fold_, back);
    if (arrivals_ != nullptr && announced.segment.times.last >= now)
      arrivals_->come(servers[from + 1], announced.at.source, now, announced.segment, Arrivals::nobody);
  };
}

// The ports of a way, with what is in them and on its way. Returns the place of the last message in line.
Injector::Ticket RingLaws::fill_ports(const Breaking& breaking, std::uint32_t way) {
  if (breaking.parts().is_gate(way)) return Injector::no_ticket;
  RingWay& path = breaking.ring.track->parts.ways[way];
  const program::DeviceId from = breaking.parts().sender(way), to = breaking.parts().receiver(way);
  const program::DeviceId destination = breaking.shape().device(breaking.shape().to[way]);
  const RingWay::UnderWay last = path.take_last(breaking.end.time);
  const std::vector<ShortEnds> short_ends = path.short_ends();
  const Time own_left = path.own_left();
  const std::vector<LinkCounts> counts = path.take_counts();
  // It may have been used before it was released: that has been counted, and is over.
  if (!std::exchange(breaking.ring.track->is_reserved[way], false)) return Injector::no_ticket;
  std::vector<TrainPort*> ports;
  std::vector<pdes::ComponentId> servers;
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = 0; i < path.links().size(); ++i) {
    const machine::LinkId link = path.links()[i];
    TrainPort& port = port_at(link);
    port.release();
    port.passed(last.busy[i], counts[i], short_ends[i], i == 0 ? own_left : 0);
    ports.push_back(&port);
    servers.push_back(tables_->server(link));
    numbers.push_back(port_of(link));
  }
  if (last.is_empty()) return Injector::no_ticket;
  NetworkNode& node = *parts_->nodes[from];
  const auto left = [&node](const OwnMessage& message, Time at) { node.left_apart(message, at); };
  WayPorts chain(ports, servers, left, renaming(breaking.parts().shifts[way], servers, breaking.by.event.time));
  chain.stop_before(breaking.by.event);
  std::vector<OwnMessage> messages = messages_of(breaking, way, last.posted.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const OwnMessage sized = message_of(*tables_, last.posted[i].bytes, to);
    messages[i].destination = to;
    messages[i].packets_left = sized.packets_left;
    messages[i].last_bytes = sized.last_bytes;
  }
  try {
    in_turn(
        last.posted, last.guests, servers.front(), [&](std::size_t i) { chain.post(last.posted[i].at, messages[i]); },
        [&](std::size_t i) { chain.arrive(last.guests[i]); });
    // What comes to a port by this event has left its source before: nothing else was there when the ring took its
    // ports.
    chain.run_until(breaking.by.event);
  } catch (const BeyondTimeError&) {
    parts_->nodes[servers[chain.active()]]->refuse_time(*ports[chain.active()]);
  }
  for (const Guest& guest : chain.waiting_guests()) take_back(guest, path.links().back());
  if (breaking.context == nullptr) return chain.place();
  std::vector<WayPorts::Announced> left_over = chain.left_over();
  if (breaking.ring.runs.empty()) {  // all have what was sent to them, perhaps at this very time
    std::erase_if(left_over, [](const WayPorts::Announced& one) {
      return one.kind == WayPorts::Announced::Kind::delivered || one.kind == WayPorts::Announced::Kind::amend;
    });
  }
  resend(*breaking.context, breaking.end, breaking.tied(way), left_over, servers, numbers, destination);
  return chain.place();
}

// It has been told of behind the link as if nothing came before it any more, and will be told of anew.
void RingLaws::take_back(const Guest& guest, machine::LinkId link) {
  Amend amend{guest.segment.name, guest.generation, guest.segment.destination, 0};
  pdes::ComponentId behind = tables_->behind(link, connection_of(amend));
  if (fold_ != nullptr) {
    const StandIn::Place place = fold_->place(behind);
    if (place.shifts > 0) fold_->as_received(tables_->server(link), {place.shifts, amend.destination}, amend);
    behind = place.of;
  }
  parts_->nodes[behind]->take_back(amend);
}

// Names of the last `count` messages on a way, and what they say. Those that have come need not say anything.
std::vector<OwnMessage> RingLaws::messages_of(const Breaking& breaking, std::uint32_t way, std::size_t count) const {
  const Ring& ring = breaking.ring;
  const std::uint32_t slot = way / breaking.shape().seats(), seat = way % breaking.shape().seats();
  std::vector<OwnMessage> messages(count);
  std::uint32_t posted = 0;
  std::vector<Time> says;
  for (std::size_t number = 0; number < ring.runs.size(); ++number) {
    const std::vector<Time>& on_their_way = breaking.progress_of(number, way).slots[slot].on_their_way;
    posted += breaking.posted(number, way);
    says.insert(says.end(), on_their_way.begin(), on_their_way.end());
  }
  if (ring.runs.empty()) {  // they are over, but for the guests among them
    const program::DeviceId sender = breaking.shape().device(seat);
    const std::uint32_t next = parts_->members[sender]->next_message(breaking.parts().receiver(way), ring.channel(way));
    for (std::size_t i = 0; i < count; ++i)
      messages[i].name = {sender, ring.channel(way), next - static_cast<std::uint32_t>(count - i)};
    return messages;
  }
  // Before the first collective that is under way there may be messages of the one before: they count as its own.
  std::size_t number = ring.runs.size();
  std::uint32_t unnamed = 0;  // of the run's messages, from the last one on
  for (std::size_t i = count; i-- > 0;) {
    while (unnamed == 0 && number > 0) unnamed = breaking.posted(--number, way);
    if (unnamed > 0) --unnamed;
    const TakenStream& stream = ring.runs[number].senders[way].stream;
    const std::size_t behind = count - 1 - i;
    OwnMessage& message = messages[i];
    message.name = {breaking.shape().device(seat), ring.channel(way),
                    ring.runs.front().senders[way].first_message + posted - 1 - static_cast<std::uint32_t>(behind)};
    message.stream = stream.index;
    message.batch = stream.batch;  // no step waits until those of this one have left
    if (behind < says.size()) message.waited_until = says[says.size() - 1 - behind];
  }
  return messages;
}

void RingLaws::tell_member(const Breaking& breaking, std::uint32_t rank, std::size_t number) {
  const Ring& ring = breaking.ring;
  const RingParts& parts = breaking.parts();
  Run& run = breaking.ring.runs[number];
  BrokenOff broken;
  broken.stream = run.members[rank].stream;
  broken.joined = run.entries[rank].joined;
  bool all_over = true;
  for (std::uint32_t seat = rank; seat < breaking.shape().seats(); seat += ring.size) {
    BrokenOff::Strand& strand = broken.strands.emplace_back();
    strand.progress = breaking.progress[number][seat];
    const auto& [posted, taken, waited_until, next, ended, slots] = strand.progress;
    strand.is_over = taken == run.work->steps;
    strand.goes_on_now = posted == taken && next == breaking.by.event && breaking.is_to_come(number, seat);
    all_over = all_over && strand.is_over;
    if (posted > taken) strand.adding = bytes_added(*run.work, breaking.shape(), parts.senders, seat, taken);
    strand.stream = run.senders[seat].stream.index;
    for (std::uint32_t slot = 0; slot < breaking.shape().slots; ++slot) {
      const std::uint32_t way = breaking.shape().way(slot, seat);
      strand.ways.push_back({breaking.messages(number, way), breaking.shape().previous[way], breaking.places[way]});
    }
  }
  const bool has_entered = run.entries[rank].at.time != never;
  const bool is_in_law = has_entered && !breaking.has_left(number, rank) && !parts.is_real(rank);
  run.members[rank].is_whole = is_in_law && all_over;
  broken.goes_on = is_in_law && !all_over;
  const program::DeviceId device = breaking.shape().members[rank];
  if (breaking.context == nullptr) return parts_->members[device]->broken_off(nullptr, broken);
  pdes::Context own = breaking.context->of(device);
  parts_->members[device]->broken_off(&own, broken);
}

}  // namespace tessera::sim
