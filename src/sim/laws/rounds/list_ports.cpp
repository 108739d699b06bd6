// What of ports and of messages that are under way is a time, a sum, or has to be the same (state_list.hpp). What only
// makes others wait or saves events (hints, calls back that come too early) is not listed.
#include <algorithm>
#include <map>

#include "sim/laws/rounds/list_parts.hpp"
#include "sim/laws/trains/train_port.hpp"

namespace tessera::sim {
namespace {

/// Of the device's own message that leaves last, which may still be leaving.
void list_left(StateList& list, TrainWork& work) {
  const Injector::State& own = work.own.state();
  const bool counts = own.current == Injector::no_ticket && own.left > list.now();
  list.same(counts);
  list.same(counts ? own.last_channel : 0);
  list.same(counts ? own.last_destination : 0);
  list.limit(work.own.state().left);
  list.limit(work.own_left_at);
}

/// The port of a link, where anything is in it.
class ListedPort {
 public:
  ListedPort(StateList& list, TrainState& state, pdes::ComponentId self) : list_(list), state_(state), self_(self) {}
  void list();

 private:
  void list_line();
  void list_streams();
  void list_run();
  void list_together();
  void list_turns(PlannedTurns& turns);
  void list_share(PlannedShare& share);
  void list_service(Service& service);
  void list_turn(PortTurn& turn, bool has_time = true);
  [[nodiscard]] std::int64_t number_of(std::uint32_t stream) const { return find(streams_, stream); }
  [[nodiscard]] std::int64_t place_of(Injector::Ticket place) const { return find(places_, place); }
  [[nodiscard]] static std::int64_t find(const std::vector<std::uint32_t>& all, std::uint32_t one) {
    return std::ranges::find(all, one) - all.begin();
  }
  [[nodiscard]] TrainWork& work() { return state_.work.make(); }

  StateList& list_;
  TrainState& state_;
  pdes::ComponentId self_;
  std::vector<std::uint32_t> places_, streams_;  // those in use, in the order in which they came
};

void ListedPort::list() {
  list_line();
  list_streams();
  list_run();
  list_.time(state_.due);
  if (state_.call_pending) list_.limit(state_.call_at);
  if (!work().amends.empty()) list_.refuse();
}

// Of the device's own messages. Which place one stands at makes no difference.
void ListedPort::list_line() {
  Injector::State& own = work().own.state();
  list_.same(own.messages);
  for (Injector::Ticket place = 0; place < own.places.size(); ++place)
    if (own.messages > 0 && own.places[place].message.packets_left > 0) places_.push_back(place);
  std::ranges::sort(places_, [&](auto a, auto b) {
    return static_cast<std::int32_t>(own.places[a].number - own.places[b].number) < 0;
  });
  for (const Injector::Ticket place : places_) {
    auto& [message, next, number] = own.places[place];
    list_own_message(list_, message, self_);
    list_.same(place_of(next));
  }
  list_.same(place_of(own.current));
  for (std::size_t i = own.head; i < own.line.size(); ++i) list_.same(place_of(own.line[i]));
}

void ListedPort::list_turn(PortTurn& turn, bool has_time) {
  if (has_time) list_.time(turn.time);
  list_.same(turn.component);
  list_.same(turn.link);
  list_.same(turn.component == self_ ? turn.ordinal : work().next_ordinal - turn.ordinal);
}

void ListedPort::list_streams() {
  TrainWork& work = this->work();
  for (std::uint32_t stream = 0; stream < work.streams.size(); ++stream)
    if (std::ranges::find(work.unused_streams, stream) == work.unused_streams.end()) streams_.push_back(stream);
  std::ranges::sort(streams_, [&](auto a, auto b) {
    return static_cast<std::int32_t>(work.streams[a].ordinal - work.streams[b].ordinal) < 0;
  });
  list_.same(streams_.size());
  for (const std::uint32_t number : streams_) {
    auto& [times, waited_until, name, generation, destination, link, from, ordinal, served, final, bytes] =
        work.streams[number];
    list_name(list_, name, destination, from, generation);
    list_times(list_, times);
    list_.time(waited_until);
    for (const std::uint32_t one : {destination, link, from, work.next_ordinal - ordinal, served, std::uint32_t{final}})
      list_.same(one);
    list_.same(bytes);
  }
  std::vector<TrainWork::Waiting*> waiting;
  for (TrainWork::Waiting& one : work.waiting) waiting.push_back(&one);
  std::ranges::sort(waiting, [](const auto* a, const auto* b) { return a->turn < b->turn; });
  for (TrainWork::Waiting* one : waiting) {
    list_turn(one->turn);
    list_.same(number_of(one->stream));
  }
  list_.same(waiting.size());
}

void ListedPort::list_service(Service& service) {
  auto& [paced, last_apart, after, first_start, rest, out] = service;
  list_.same(paced);
  list_.same(last_apart);
  list_busy(list_, after);
  list_.time(first_start);
  list_.same(rest);
  list_times(list_, out);
}

void ListedPort::list_run() {
  auto& [active, own, final, goes_on, to_destination, awaited, stream, name, generation, destination, bytes, offered,
         service, apart] = work().run;
  list_.same(active);
  if (!active) return;
  const bool has_shares = work().run.has_shares();
  for (const bool one : {own, final, goes_on, to_destination, awaited, has_shares}) list_.same(one);
  list_.same(bytes);
  if (own) list_.time(offered);
  if (has_shares) {
    list_busy(list_, service.after);
    list_.time(service.out.last);
    return list_together();
  }
  list_name(list_, name, destination, self_, generation);
  if (!own) list_.same(number_of(stream));
  list_service(service);
}

void ListedPort::list_share(PlannedShare& share) {
  auto& [of, own, generation, final, out] = share;
  list_.same(own);
  list_.same(final);
  list_.same(own ? place_of(of) : number_of(of));
  list_times(list_, out);
  if (out.count == 0) return;  // its stream may be gone
  if (own) {
    const OwnMessage& message = work().own.at(of);
    list_name(list_, message.name, message.destination, self_, generation);
  } else {
    const TrainWork::Stream& stream = work().streams[of];
    list_name(list_, stream.name, stream.destination, self_, generation);
  }
}

void ListedPort::list_turns(PlannedTurns& turns) {
  auto& [period, line, rounds, last_bytes, kept, told] = turns;
  list_busy(list_, period);
  for (const auto& [place, generation] : line) {
    const OwnMessage& message = work().own.at(place);
    list_.same(place_of(place));
    list_name(list_, message.name, message.destination, self_, generation);
  }
  for (const std::uint32_t one : {turns.takers(), rounds, kept, told}) list_.same(one);
  for (const std::int64_t bytes : last_bytes) list_.same(bytes);
  list_.same(last_bytes.size());
}

void ListedPort::list_together() {
  const bool own = work().run.own, is_mixed = work().run.is_mixed();
  auto& [shares, turns, among, flows, rounds, next, busy, last_turn, rounds_without_pause, burst_queue, singles] =
      work().run.together();
  list_.same(busy);
  list_turn(last_turn);
  if (own) return list_turns(turns);
  list_.same(shares.size());
  for (PlannedShare& share : shares) list_share(share);
  list_.same(is_mixed);
  for (auto& [turn_times, tie] : among) {
    list_times(list_, turn_times);
    list_turn(tie, false);
  }
  list_.same(flows.size());
  for (auto& [stream, arrivals, turn] : flows) {
    list_.same(number_of(stream));
    list_times(list_, arrivals);
    list_turn(turn);
  }
  list_.same(rounds.stride());
  list_.same(rounds_without_pause);
  list_.same(burst_queue);
  list_.time(next);
  list_.same(singles.size());
  for (auto& [share, turn, bytes, behind] : singles) {
    list_.same(share);
    list_.same(bytes);
    list_turn(turn);
    list_busy(list_, behind);
  }
}

/// Where packets end that may be in the queue still.
void list_ends(StateList& list, ShortEnds& ends, Time period) {
  const bool counts = ends.period == period && !ends.bytes.empty();
  list.same(counts ? ends.bytes.size() - ends.first : 0);
  if (!counts) return;
  for (std::size_t i = ends.first; i < ends.bytes.size(); ++i) list.same(ends.bytes[i]);
  list.time(ends.period);
}

void list_port(StateList& list, NetworkNode& node, TrainPort& port, const Rate& rate) {
  const bool is_idle = port.settle(list.now(), node);
  TrainState& state = port.state();
  // What is planned may go on with a period that is over by now.
  const bool is_over = is_idle && state.busy.end(rate) < list.now();
  for (const bool one : {is_idle, is_over, state.reserved}) list.same(one);
  list_counts(list, state.counts);
  TrainWork none;
  TrainWork& work = state.work.is_made() ? state.work.make() : none;
  list_left(list, work);
  list_ends(list, work.short_ends, is_over ? -1 : state.busy.start);
  if (!is_over) list_busy(list, state.busy);
  if (!is_idle) ListedPort(list, state, node.self()).list();
}

}  // namespace

void list_times(StateList& list, PacketTimes& times) {
  auto& [base, offset, stride, last, last_bytes, count, rate] = times;
  list.same(count);
  if (count == 0) return;
  list.time(base);
  for (const std::int64_t one : {offset, stride, last_bytes, std::int64_t{rate}}) list.same(one);
  list.time(last);
}

void list_name(StateList& list, const MessageName& name, machine::NodeId destination, pdes::ComponentId server,
               std::uint32_t generation) {
  list.named({StateList::message, destination, name.sender, name.channel, name.sequence, 0});
  list.named({server, destination, name.sender, name.channel, name.sequence, generation});
  if (!list.names_say_ways()) return;
  for (const std::uint32_t one : {name.sender, name.channel, destination}) list.same(one);
}

void list_own_message(StateList& list, OwnMessage& message, pdes::ComponentId self) {
  auto& [name, destination, waited_until, last_bytes, packets_left, stream, batch, goes_on, bytes, awaited, joined] =
      message;
  list_name(list, name, destination, self, 0);
  list.named({StateList::batch, self, stream, batch, 0, 0});
  for (const std::int64_t one :
       {last_bytes, std::int64_t{packets_left}, std::int64_t{awaited}, std::int64_t{goes_on}, bytes})
    list.same(one);
  list.time(waited_until);
  list.time(joined);
}

void list_counts(StateList& list, LinkCounts& counts) {
  list.sum(counts.bytes);
  list.sum(counts.messages);
  list.sum(counts.busy);
}

void list_busy(StateList& list, BusyPeriod& busy) {
  list.time(busy.start);
  list.same(busy.bytes);
}

void list_segment(StateList& list, Segment& segment, pdes::ComponentId from) {
  auto& [name, generation, destination, link, waited_until, times, final, shortens, earlier, bytes] = segment;
  list_name(list, name, destination, from, generation);
  for (const std::uint32_t one : {destination, link, std::uint32_t{final}, std::uint32_t{shortens}}) list.same(one);
  list.same(bytes);
  list.time(waited_until);
  list_times(list, times);
  if (!shortens) return;
  list_name(list, name, destination, from, earlier.generation);
  list.same(earlier.packets);
}

void list_node(StateList& list, NetworkNode& node, const NetworkTables& tables) {
  for (std::uint32_t i = 0; i < node.ports().size(); ++i)
    list_port(list, node, train_port(node.port(i)), tables.rate(node.port(i).link()));
  if (node.has_taken_back()) list.refuse();
}

void list_message(StateList& list, pdes::Event& event) {
  if (event.kind == NetworkProtocol::kind_of<Segment>) {
    list_segment(list, pdes::Context::change<Segment>(event), event.source);
  } else if (event.kind == NetworkProtocol::kind_of<Segments>) {
    Segments& segments = pdes::Context::change<Segments>(event);
    list.same(segments.count);
    for (Segment& segment : segments.span()) list_segment(list, segment, event.source);
  } else if (event.kind == NetworkProtocol::kind_of<Delivered>) {
    auto message = event.as<Delivered>();
    list_name(list, message.name, event.destination, event.source, message.generation);
    list.time(message.waited_until);
    event.put(message);
  } else if (event.kind == NetworkProtocol::kind_of<Amend>) {
    const auto amend = event.as<Amend>();
    list_name(list, amend.name, amend.destination, event.source, amend.generation);
    list.same(amend.packets);
  } else {
    list.refuse();
  }
}

}  // namespace tessera::sim
