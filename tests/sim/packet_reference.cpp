#include "packet_reference.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <queue>
#include <set>
#include <stdexcept>
#include <tuple>

#include "sim/network/network_tables.hpp"

namespace tessera::test {
namespace {

using machine::LinkId;
using machine::NodeId;

struct Packet {
  std::uint32_t message = 0;
  std::int64_t bytes = 0;
  bool last = false;
  bool own = false;
};

struct Event {
  Time time = 0;
  std::uint32_t source = 0;
  std::uint64_t number = 0;
  enum Kind { post, arrival, departure } kind = post;
  std::uint32_t at = 0;  // node of arrival, link of departure
  LinkId over = 0;       // arrival
  Packet packet;         // arrival; post: its message
  bool operator>(const Event& other) const {
    return std::tie(time, source, number) > std::tie(other.time, other.source, other.number);
  }
};

using Turn = std::tuple<Time, std::uint32_t, LinkId, std::uint64_t>;

/// A message that has begun, or will when those before it on its connection have left.
struct Active {
  std::uint32_t message = 0;
  std::int64_t left = 0;
  Time joined = 0;
  std::uint64_t number = 0;  // in the order of posting
};

struct Server {
  std::map<Turn, Packet> waiting;
  Time period_start = 0;
  std::int64_t period_bytes = 0;
  Time free_at = 0;
  bool offered = false;  // an own packet waits or is in service
  Active sending;        // its message
  std::deque<Active> line;
  std::map<std::pair<NodeId, std::uint32_t>, std::deque<Active>> behind;  // by destination and channel
};

class Reference {
 public:
  Reference(const machine::Network& network, const std::vector<TestMessage>& messages,
            const std::vector<machine::BoundWay>& ways)
      : network_(network), messages_(messages), ways_(ways), tables_(network), servers_(network.links.size()) {
    result_.delivered.assign(messages.size(), -1);
    result_.departures.resize(network.links.size());
    result_.busy.assign(network.links.size(), 0);
    result_.peak_queue.assign(network.links.size(), 0);
  }

  TrafficResult run() {
    for (std::uint32_t i = 0; i < messages_.size(); ++i) {
      if (messages_[i].after < 0)
        push({messages_[i].time, messages_[i].from, 0, Event::post, 0, 0, {i, 0, false, false}});
    }
    while (!events_.empty()) {
      const Time now = events_.top().time;
      touched_.clear();
      while (!events_.empty() && events_.top().time == now) {
        const Event event = events_.top();
        events_.pop();
        handle(event);
      }
      for (const LinkId link : touched_) start_next(link, now);
      changed_.insert(touched_.begin(), touched_.end());
      if (events_.empty() || events_.top().time > now) look_at_queues();
    }
    return result_;
  }

 private:
  /// Where a message goes on: on its bound way, if it has one, by the link that begins here.
  [[nodiscard]] LinkId next(NodeId at, const TestMessage& message) const {
    for (const auto& [connection, links] : ways_) {
      if (connection != machine::Connection{message.from, message.to, message.channel}) continue;
      return *std::find_if(links.begin(), links.end(), [&](LinkId link) { return network_.links[link].from == at; });
    }
    return network_.router->next(at, message.to);
  }

  /// All that happens at this time has happened. What waits has come and not begun; of own messages it is the packet
  /// that is offered.
  void look_at_queues() {
    for (const LinkId link : changed_) {
      std::int64_t bytes = 0;
      for (const auto& [turn, packet] : servers_[link].waiting) bytes += packet.bytes;
      result_.peak_queue[link] = std::max(result_.peak_queue[link], bytes);
    }
    changed_.clear();
  }

  void push(Event event) {
    event.number = next_number_++;
    events_.push(event);
  }

  void handle(const Event& event) {
    switch (event.kind) {
      case Event::post:
        return post(event.packet.message, event.time);
      case Event::arrival:
        return arrive(event);
      case Event::departure: {
        Server& server = servers_[event.at];
        if (event.packet.own) own_packet_left(event.at, event.time);
        (void)server;
        touched_.push_back(event.at);
        return leave_at_once(event.at, event.time);
      }
    }
  }

  void post(std::uint32_t id, Time now) {
    const TestMessage& message = messages_[id];
    if (message.from == message.to) return delivered(id, now);
    const LinkId link = next(message.from, message);
    Server& server = servers_[link];
    const Active posted{id, message.bytes, now, next_number_++};
    (is_active(server, message) ? server.behind[{message.to, message.channel}] : server.line).push_back(posted);
    if (!server.offered) offer(link, now);
    touched_.push_back(link);
    leave_at_once(link, now);
  }

  /// Whether the connection of a message has one in line, or a packet on its way out.
  [[nodiscard]] bool is_active(const Server& server, const TestMessage& message) const {
    const auto same = [&](const Active& active) {
      const TestMessage& other = messages_[active.message];
      return other.to == message.to && other.channel == message.channel;
    };
    return (server.offered && same(server.sending)) || std::any_of(server.line.begin(), server.line.end(), same);
  }

  void offer(LinkId link, Time now) {
    Server& server = servers_[link];
    if (server.line.empty()) return;
    server.sending = server.line.front();
    server.line.pop_front();
    const std::int64_t bytes = std::min(server.sending.left, network_.packet.value());
    server.sending.left -= bytes;
    server.offered = true;
    const Turn turn{now, tables_.server(link), link, next_number_++};
    server.waiting[turn] = {server.sending.message, bytes, server.sending.left == 0, true};
  }

  void own_packet_left(LinkId link, Time now) {
    Server& server = servers_[link];
    server.offered = false;
    if (server.sending.left > 0) {
      go_on(server, server.sending, now);
    } else {
      const TestMessage& message = messages_[server.sending.message];
      std::deque<Active>& behind = server.behind[{message.to, message.channel}];
      if (!behind.empty()) {
        const Active next = behind.front();
        behind.pop_front();
        next.joined < now ? go_on(server, next, now) : come(server, next);
      }
    }
    offer(link, now);
  }

  /// The connection whose packet left at `now` has more: behind those in line before, ahead of those that come now.
  static void go_on(Server& server, Active next, Time now) {
    next.joined = now;
    const auto place =
        std::find_if(server.line.begin(), server.line.end(), [now](const Active& a) { return a.joined >= now; });
    server.line.insert(place, next);
  }
  /// What was posted at this very time comes in the order of posting.
  static void come(Server& server, const Active& next) {
    const auto place = std::find_if(server.line.begin(), server.line.end(), [&](const Active& a) {
      return a.joined > next.joined || (a.joined == next.joined && a.number > next.number);
    });
    server.line.insert(place, next);
  }

  void arrive(const Event& event) {
    const TestMessage& message = messages_[event.packet.message];
    if (event.at == message.to) {
      if (event.packet.last) delivered(event.packet.message, event.time);
      return;
    }
    const LinkId link = next(event.at, message);
    Packet packet = event.packet;
    packet.own = false;
    servers_[link].waiting[{event.time, event.source, event.over, next_number_++}] = packet;
    touched_.push_back(link);
    leave_at_once(link, event.time);
  }

  void delivered(std::uint32_t id, Time now) {
    result_.delivered[id] = now;
    for (std::uint32_t i = 0; i < messages_.size(); ++i) {
      if (messages_[i].after == static_cast<int>(id)) post(i, now);
    }
  }

  /// Packets that take no whole picosecond do not wait for the other events of this picosecond.
  void leave_at_once(LinkId link, Time now) {
    Server& server = servers_[link];
    while (server.free_at <= now && !server.waiting.empty() && leaves_at(link, now) == now) take(link, now);
  }

  [[nodiscard]] Time leaves_at(LinkId link, Time start) {
    const Server& server = servers_[link];
    const std::int64_t bytes = server.waiting.begin()->second.bytes;
    const bool goes_on = server.free_at >= start;
    return (goes_on ? server.period_start : start) + tables_.rate(link).up((goes_on ? server.period_bytes : 0) + bytes);
  }

  void start_next(LinkId link, Time now) {
    Server& server = servers_[link];
    if (server.free_at <= now && !server.waiting.empty()) take(link, now);
  }

  void take(LinkId link, Time now) {
    Server& server = servers_[link];
    const Packet packet = server.waiting.begin()->second;
    const Time leaves = leaves_at(link, now);
    if (server.free_at < now) {
      server.period_start = now;
      server.period_bytes = 0;
    }
    server.waiting.erase(server.waiting.begin());
    server.period_bytes += packet.bytes;
    server.free_at = leaves;
    result_.busy[link] += leaves - now;
    result_.departures[link].push_back({packet.message, leaves});
    const machine::Link& wire = network_.links[link];
    push({leaves + wire.latency.value(), tables_.server(link), 0, Event::arrival, wire.to, link, packet});
    if (leaves == now && packet.own) {
      own_packet_left(link, now);
    } else {
      push({leaves, tables_.server(link), 0, Event::departure, link, 0, packet});
    }
  }

  const machine::Network& network_;
  const std::vector<TestMessage>& messages_;
  const std::vector<machine::BoundWay>& ways_;
  sim::NetworkTables tables_;
  std::vector<Server> servers_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<LinkId> touched_;
  std::set<LinkId> changed_;  // at this time
  std::uint64_t next_number_ = 0;
  TrafficResult result_;
};

}  // namespace

TrafficResult run_reference(const machine::Network& network, const std::vector<TestMessage>& messages,
                            const std::vector<machine::BoundWay>& ways) {
  return Reference(network, messages, ways).run();
}

}  // namespace tessera::test
