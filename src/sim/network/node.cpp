#include "sim/network/node.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "tessera/base/error.hpp"

namespace tessera::sim {

std::size_t TakenBackHash::operator()(const TakenBack& what) const {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio
  std::uint64_t mixed = 0;
  for (const std::uint64_t part :
       {std::uint64_t{what.name.sender}, std::uint64_t{what.name.channel}, std::uint64_t{what.name.sequence},
        std::uint64_t{what.generation}, std::uint64_t{what.destination}})
    mixed = ((mixed ^ part) * odd) ^ (mixed >> 29);
  return static_cast<std::size_t>(mixed);
}

NetworkNode::NetworkNode(const NetworkEnvironment& environment, pdes::ComponentId self, NetworkOwner* owner)
    : environment_(&environment), self_(self), owner_(owner) {
  const NetworkTables& tables = *environment.tables;
  if (!tables.is_device(self)) {
    ports_.push_back(environment.make_port(tables, tables.switch_link(self), self, environment.trace));
    ways_.resize(1);
    return;
  }
  const auto& first = tables.network().first_link;
  ports_.reserve(first[self + 1] - first[self]);
  for (machine::LinkId link = first[self]; link < first[self + 1]; ++link) {
    ports_.push_back(environment.make_port(tables, link, self, environment.trace));
  }
  ways_.resize(ports_.size());
}

std::uint32_t NetworkNode::port_towards(const machine::Connection& connection) const {
  if (!environment_->tables->is_device(self_)) return 0;
  const machine::LinkId link = environment_->tables->routes().first(self_, connection);
  if (link == machine::no_link) {
    throw InternalError("no way from device " + std::to_string(self_) + " to device " + std::to_string(connection.to));
  }
  return link - environment_->tables->network().first_link[self_];
}

template <class Act>
void NetworkNode::at_port(std::uint32_t port, Act&& act) {
  try {
    act(*ports_[port]);
  } catch (const BeyondTimeError&) {
    refuse_time(*ports_[port]);
  }
}

void NetworkNode::refuse_time(const Port& port) const {
  const std::string name =
      environment_->machine == nullptr ? std::to_string(port.link()) : environment_->machine->link_name(port.link());
  throw InfeasibleError(BeyondTimeError::text("the link from " + name));
}

Injector::Ticket NetworkNode::post(pdes::Context& context, std::uint32_t port, const OwnMessage& message,
                                   Injector::Ticket before) {
  if (std::find(posted_.begin(), posted_.end(), port) == posted_.end()) posted_.push_back(port);
  context_ = &context;
  Injector::Ticket place = Injector::no_ticket;
  at_port(port, [&](Port& at) { place = at.post(context.now(), message, before, *this); });
  return place;
}

void NetworkNode::withhold_last(pdes::Context& context, std::uint32_t port, Injector::Ticket place) {
  if (std::find(posted_.begin(), posted_.end(), port) == posted_.end()) posted_.push_back(port);
  context_ = &context;
  at_port(port, [&](Port& at) { at.withhold_last(context.now(), place, *this); });
}

void NetworkNode::flush(pdes::Context& context, pdes::ComponentId source) {
  if (posted_.empty()) return;
  context_ = &context;
  for (const std::uint32_t port : posted_) {
    at_port(port, [&](Port& at) { at.flush(context.now(), source, *this); });
  }
  posted_.clear();
}

namespace {

/// What the segment takes back of an earlier one.
Amend shortening(const Segment& segment) {
  return {segment.name, segment.earlier.generation, segment.destination, segment.earlier.packets};
}

}  // namespace

void NetworkNode::handle(pdes::Context& context, const pdes::Event& event) {
  context_ = &context;
  switch (event.kind) {
    case NetworkProtocol::kind_of<Segment>: {
      const Segment& segment = context.get<Segment>(event);
      const Amend earlier = shortening(segment);
      if (is_taken_back({segment.name, segment.generation, segment.destination})) {
        if (segment.shortens) amend(event.source, earlier);
        return;
      }
      if (segment.destination == self_) return ends_here(segment);
      const std::uint32_t together = combined(segment);
      if (together > 1) return combine(segment, together, event.source);
      const std::uint32_t port = port_towards(connection_of(segment));
      tell_arrival(event.source, segment, port);
      if (ports_[port]->reserved() &&
          environment_->reservations->let_pass(context, event.source, ports_[port]->link(), segment))
        return;
      break_off_reservation(context, event.source, port);
      at_port(port, [&](Port& at) {
        if (!at.arrive(context.now(), event.source, segment, *this)) take_back(earlier);
      });
      return;
    }
    case NetworkProtocol::kind_of<Segments>:
      return arrive_together(event.source, context.get<Segments>(event));
    case NetworkProtocol::kind_of<Amend>:
      return amend(event.source, event.as<Amend>());
    case NetworkProtocol::kind_of<PortWake>: {
      const auto message = event.as<PortWake>();
      at_port(message.port, [&](Port& at) { at.wake(context.now(), message.token, *this); });
      return;
    }
    default:
      throw InternalError("a network component cannot take a message of kind " + std::to_string(event.kind));
  }
}

void NetworkNode::tell_arrival(pdes::ComponentId source, const Segment& segment, std::uint32_t port) const {
  if (environment_->arrivals == nullptr) [[likely]]
    return;
  if (segment.shortens) environment_->arrivals->amended(self_, shortening(segment));
  const Port& at = *ports_[port];
  const pdes::ComponentId meets = at.reserved() ? environment_->reservations->sender_to(at.link()) : Arrivals::nobody;
  environment_->arrivals->come(self_, source, context_->now(), segment, meets);
}

void NetworkNode::arrive_together(pdes::ComponentId source, const Segments& segments) {
  std::uint32_t taken_back = 0;
  for (std::uint32_t i = 0; const Segment& segment : segments.span())
    taken_back |= std::uint32_t{is_taken_back({segment.name, segment.generation, segment.destination})} << i++;
  if (segments.all[0].destination == self_) {  // and so are the others'
    for (std::uint32_t i = 0; i < segments.count; ++i) {
      const Segment& segment = segments.all[i];
      if ((taken_back >> i & 1U) == 0) {
        ends_here(segment);
      } else if (segment.shortens) {
        amend(source, shortening(segment));
      }
    }
    return;
  }
  const std::uint32_t port = port_towards(connection_of(segments));
  for (const Segment& segment : segments.span()) tell_arrival(source, segment, port);
  break_off_reservation(*context_, source, port);
  std::uint32_t not_found = 0;
  at_port(port, [&](Port& at) { not_found = at.arrive(context_->now(), source, segments, taken_back, *this); });
  for (std::uint32_t i = 0; i < segments.count; ++i) {
    const Segment& segment = segments.all[i];
    if ((not_found >> i & 1U) != 0)
      take_back({segment.name, segment.earlier.generation, segment.destination, segment.earlier.packets});
  }
}

// Its memory writes them.
void NetworkNode::ends_here(const Segment& segment) {
  if (!owner_->packets_come(segment)) take_back(shortening(segment));
}

void NetworkNode::amend(pdes::ComponentId source, const Amend& amend) {
  if (amend.destination == self_) {
    const bool is_known = environment_->tables->tells_packets() && owner_->packets_amended(amend);
    if (!is_known) take_back(amend);
    return;
  }
  if (environment_->arrivals != nullptr) [[unlikely]]
    environment_->arrivals->amended(self_, amend);
  at_port(port_towards(connection_of(amend)), [&](Port& at) {
    if (!at.amend(context_->now(), source, amend, *this)) take_back(amend);
  });
}

// What has not come: all of it is taken back, or what was left of it has been served since (TrainPort::shorten).
void NetworkNode::take_back(const Amend& amend) {
  if (amend.packets == 0 || (amend.destination == self_ && !environment_->tables->tells_packets()))
    taken_back_.insert({amend.name, amend.generation, amend.destination});
}

// How many messages become one with this one here. What is combined meets in front of its destination.
std::uint32_t NetworkNode::combined(const Segment& segment) const {
  const NetworkTables& tables = *environment_->tables;
  if (environment_->combinations == nullptr || tables.is_device(self_)) return 1;
  if (tables.link(ports_[0]->link()).to != segment.destination) return 1;
  return environment_->combinations->messages(segment.name);
}

// A segment that is combined is one packet (checked before time zero), so that it is here when its event is handled.
void NetworkNode::combine(Segment segment, std::uint32_t messages, pdes::ComponentId source) {
  if (!combiner_.make().complete(segment.name, messages, segment.waited_until)) return;
  break_off_reservation(*context_, source, 0);
  at_port(0, [&](Port& at) { at.arrive(context_->now(), source, segment, *this); });
}

bool NetworkNode::is_taken_back(const TakenBack& what) {
  if (taken_back_.empty()) [[likely]]
    return false;
  const auto found = taken_back_.find(what);
  if (found == taken_back_.end()) return false;
  taken_back_.erase(found);
  return true;
}

bool NetworkNode::holds(const Delivered& message) { return !is_taken_back({message.name, message.generation, self_}); }

Time NetworkNode::departure(std::uint32_t stream, std::uint32_t batch) const {
  Time time = 0;
  for (const auto& port : ports_) time = std::max(time, port->departure(stream, batch));
  return time;
}

void NetworkNode::finish() {
  for (const auto& port : ports_) port->finish(*this);
}

NodeState NetworkNode::state() const {
  NodeState state{{}, taken_back_, combiner_};
  for (const auto& port : ports_) state.ports.push_back(port->save());
  return state;
}

void NetworkNode::restore(const NodeState& state) {
  if (state.ports.size() != ports_.size()) throw InternalError("a node goes on from one with other ports");
  for (std::size_t port = 0; port < ports_.size(); ++port) ports_[port]->restore(*state.ports[port]);
  taken_back_ = state.taken_back;
  combiner_ = state.combiner;
}

const NetworkNode::Way& NetworkNode::way(const Port& port, const machine::Connection& connection) {
  Way& known = ways_[index_of(port)];
  if (known.of.to != connection.to || (!environment_->tables->bound_ways().empty() && known.of != connection))
    known = find_way(port, connection);
  return known;
}

NetworkNode::Way NetworkNode::find_way(const Port& port, const machine::Connection& connection) const {
  const pdes::ComponentId behind = environment_->tables->behind(port.link(), connection);
  if (environment_->stand_in == nullptr) return {connection, environment_->wiring->port(self_, behind)};
  const StandIn::Place place = environment_->stand_in->place(behind);
  return {connection, environment_->wiring->port(self_, place.of), place.shifts};
}

// Where another component stands for the next one on its way, as it would be there.
template <class Message>
void NetworkNode::send(const Port& port, Time at, const machine::Connection& connection, const Message& message) {
  const auto& [of, out, shifts] = way(port, connection);
  if (environment_->stand_in == nullptr) [[likely]]
    return context_->send(out, at, message);
  if (environment_->sent != nullptr) environment_->sent->sees(at, port.link(), connection.to, message);
  if (shifts == 0) return context_->send(out, at, message);
  send_renamed(out, at, {shifts, connection.to}, message);
}

template <class Message>
void NetworkNode::send_renamed(pdes::OutPort out, Time at, const StandIn::Ahead& ahead, Message message) {
  const pdes::ComponentId by = environment_->stand_in->as_received(self_, ahead, message);
  context_->send_as(by, out, at, message);
}

// What comes from one here may come from several there.
void NetworkNode::send_renamed(pdes::OutPort out, Time at, const StandIn::Ahead& ahead, Segments segments) {
  std::array<pdes::ComponentId, Segments::most> by{};
  for (std::uint32_t i = 0; i < segments.count; ++i)
    by[i] = environment_->stand_in->as_received(self_, ahead, segments.all[i]);
  for (std::uint32_t first = 0; first < segments.count; ++first) {
    if (std::find(by.begin(), by.begin() + first, by[first]) != by.begin() + first) continue;
    Segments together;
    for (std::uint32_t i = first; i < segments.count; ++i)
      if (by[i] == by[first]) together.all[together.count++] = segments.all[i];
    context_->send_as(by[first], out, at, together);
  }
}

void NetworkNode::deliver(const Port& port, Time at, machine::NodeId destination, const Delivered& message) {
  send(port, at, connection_of(message.name, destination), message);
}

void NetworkNode::tell_forwarded(const Port& port, Time at, const machine::Connection& connection) const {
  if (environment_->forwarded != nullptr)
    environment_->forwarded->comes(environment_->tables->behind(port.link(), connection), at);
}

void NetworkNode::forward(const Port& port, Time at, const Segment& segment) {
  tell_forwarded(port, at, connection_of(segment));
  send(port, at, connection_of(segment), segment);
}

void NetworkNode::forward_together(const Port& port, Time at, const Segments& segments) {
  tell_forwarded(port, at, connection_of(segments));
  send(port, at, connection_of(segments), segments);
}

void NetworkNode::amend(const Port& port, Time at, const Amend& amend) {
  tell_forwarded(port, at, connection_of(amend));
  send(port, at, connection_of(amend), amend);
}

void NetworkNode::wake(const Port& port, Time at, std::uint32_t token) {
  context_->schedule(at, PortWake{index_of(port), token});
}

void NetworkNode::left(const OwnMessage& message, Time at) {
  if (owner_ != nullptr) owner_->message_left(message, at);
}

}  // namespace tessera::sim
