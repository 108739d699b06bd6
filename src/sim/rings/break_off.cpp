// A ring whose links get something else to carry: from laws to messages.
#include <algorithm>
#include <utility>

#include "sim/rings/ring.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

/// In the name of whoever has announced them, what ports still have to be told.
/// `end`: messages delivered before have been.
void resend(pdes::Context& context, const Moment& end, std::vector<PortChain::Announced> announced,
            const std::vector<pdes::ComponentId>& servers, const std::vector<std::uint32_t>& ports,
            program::DeviceId destination) {
  for (const PortChain::Announced& one : announced) {
    if (one.kind == PortChain::Announced::Kind::delivered && one.at < end) continue;
    pdes::Context own = context.of(one.at.source);
    switch (one.kind) {
      case PortChain::Announced::Kind::segment:
        own.resend(servers[one.to], one.at.time, one.segment);
        break;
      case PortChain::Announced::Kind::delivered:
        own.resend(destination, one.at.time, one.delivered);
        break;
      case PortChain::Announced::Kind::wake:
        own.resend(servers[one.to], one.at.time, PortWake{ports[one.to], one.token});
        break;
    }
  }
}

}  // namespace

/// What is done for one member at a time.
struct RingLaws::Breaking {
  pdes::Context* context;
  Ring& ring;
  Moment event;                                      ///< that breaks it off
  Moment end;                                        ///< behind it: what a member waits for may be this event
  std::vector<std::vector<RingStanding>> standings;  ///< by run and member

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(ring.track->parts.members.size()); }
  [[nodiscard]] std::uint32_t behind(std::uint32_t rank) const { return rank + 1 == size() ? 0 : rank + 1; }
  [[nodiscard]] std::uint32_t before(std::uint32_t rank) const { return rank == 0 ? size() - 1 : rank - 1; }
};

void RingLaws::break_off(pdes::Context* context, Ring& ring, const Moment& event) {
  const Moment end{event.time, event.source + 1};
  Breaking breaking{context, ring, event, end, {}};
  const bool ends_known = !ring.runs.empty() && !ring.runs.front().ends.empty();
  for (RingPath& path : ring.track->parts.paths) ends_known ? path.rewind() : path.mark();
  for (const Run& run : ring.runs)
    breaking.standings.push_back(standings_at(end, ring.track->parts, *run.work, run.entries));
  if (trace_ != nullptr && !ends_known) {
    for (const Run& run : ring.runs) tell_use(ring.track->parts, run, event.time);
  }
  ring.track->owner = nullptr;
  for (std::uint32_t rank = 0; rank < breaking.size(); ++rank) {
    const Injector::Place place = fill_ports(breaking, rank);
    for (std::size_t number = 0; number < ring.runs.size(); ++number) tell_member(breaking, rank, number, place);
  }
  for (Run& run : ring.runs) run.is_law = false;
}

// The ports towards the next member, with what is in them and on its way. Returns the place of the last message in
// line.
Injector::Place RingLaws::fill_ports(const Breaking& breaking, std::uint32_t rank) {
  Ring& ring = breaking.ring;
  RingPath& path = ring.track->parts.paths[rank];
  const program::DeviceId from = ring.track->parts.members[rank], to = ring.track->parts.members[breaking.behind(rank)];
  const RingPath::UnderWay last = path.take_last(breaking.end.time);
  const std::vector<LinkCounts> counts = path.take_counts();
  std::vector<OutputPort*> ports;
  std::vector<pdes::ComponentId> servers;
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = 0; i < path.links().size(); ++i) {
    const machine::LinkId link = path.links()[i];
    OutputPort& port = port_at(link);
    port.release();
    port.passed(last.busy[i], counts[i]);
    ports.push_back(&port);
    servers.push_back(tables_->server(link));
    numbers.push_back(port_of(link));
  }
  if (last.posted.empty()) return Injector::no_place;
  NetworkNode& node = *parts_->nodes[from];
  PortChain chain(ports, servers, [&node](const OwnMessage& message, Time at) { node.left_apart(message, at); });
  std::vector<OwnMessage> messages = messages_of(breaking, rank, last.posted.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const OwnMessage sized = message_of(*tables_, last.posted[i].bytes, to);
    messages[i].destination = to;
    messages[i].packets_left = sized.packets_left;
    messages[i].last_bytes = sized.last_bytes;
  }
  try {
    for (std::size_t i = 0; i < messages.size(); ++i) chain.post(last.posted[i].at, messages[i]);
    // What comes to a port by this event has left its source before: nothing else was there when the ring took its
    // ports.
    chain.run_until(breaking.event);
  } catch (const BeyondTimeError&) {
    parts_->nodes[servers[chain.active()]]->refuse_time(*ports[chain.active()]);
  }
  if (breaking.context != nullptr) resend(*breaking.context, breaking.end, chain.left_over(), servers, numbers, to);
  return chain.place();
}

// Names of the last `count` messages of a member, and what they say. Those that have come need not say anything.
std::vector<OwnMessage> RingLaws::messages_of(const Breaking& breaking, std::uint32_t rank, std::size_t count) const {
  const Ring& ring = breaking.ring;
  std::vector<OwnMessage> messages(count);
  std::size_t posted = 0;
  std::vector<Time> says;
  for (std::size_t number = 0; number < ring.runs.size(); ++number) {
    const RingStanding& standing = breaking.standings[number][rank];
    posted += standing.posted;
    says.insert(says.end(), standing.on_their_way.begin(), standing.on_their_way.end());
  }
  // Before the first collective that is under way there may be messages of the one before: they count as its own.
  std::size_t number = ring.runs.size(), unnamed = 0;  // of the run's messages, from the last one on
  for (std::size_t i = count; i-- > 0;) {
    while (unnamed == 0 && number > 0) unnamed = breaking.standings[--number][rank].posted;
    if (unnamed > 0) --unnamed;
    const Run::Member& member = ring.runs[number].members[rank];
    const std::size_t behind = count - 1 - i;
    OwnMessage& message = messages[i];
    message.name = {ring.track->parts.members[rank], ring.channel(),
                    ring.runs.front().members[rank].first_message + static_cast<std::uint32_t>(posted - 1 - behind)};
    message.stream = member.stream;
    message.batch = member.batch + 1 + breaking.standings[number][rank].posted;
    if (behind < says.size()) message.waited_until = says[says.size() - 1 - behind];
  }
  return messages;
}

void RingLaws::tell_member(const Breaking& breaking, std::uint32_t rank, std::size_t number, Injector::Place place) {
  Ring& ring = breaking.ring;
  Run& run = ring.runs[number];
  const RingStanding& standing = breaking.standings[number][rank];
  const program::DeviceId device = ring.track->parts.members[rank];
  BrokenOff broken;
  broken.next = ring.track->parts.members[breaking.behind(rank)];
  broken.previous = ring.track->parts.members[breaking.before(rank)];
  broken.place = place;
  broken.stream = run.members[rank].stream;
  broken.batch = run.members[rank].batch + standing.posted;
  broken.standing = standing;
  const bool has_left = ring.left[rank] - ring.first > number;
  const bool has_entered = run.entries[rank].at.time != never;
  run.members[rank].is_whole = has_entered && !has_left && standing.taken == run.work->steps;
  broken.goes_on = has_entered && !has_left && !run.members[rank].is_whole;
  if (broken.goes_on) {
    broken.messages = {standing.posted, bytes_sent(*run.work, breaking.size(), rank, standing.posted),
                       bytes_sent(*run.work, breaking.size(), breaking.before(rank), standing.posted)};
    if (standing.posted > standing.taken) broken.adding = bytes_added(*run.work, breaking.size(), rank, standing.taken);
  }
  RingMember& member = *parts_->members[device];
  if (breaking.context == nullptr) return member.ring_is_broken_off(nullptr, ring.channel(), broken);
  pdes::Context own = breaking.context->of(device);
  member.ring_is_broken_off(&own, ring.channel(), broken);
}

}  // namespace tessera::sim
