// The network side of a component: its output ports, what comes in, what is passed on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "sim/lazy.hpp"
#include "sim/network/combiner.hpp"
#include "sim/network/port.hpp"
#include "sim/network/wiring.hpp"
#include "tessera/pdes/component.hpp"

namespace tessera::sim {

inline constexpr std::uint32_t any_stream = ~std::uint32_t{0};

/// Who has ports for itself (Port::reserved) until something else comes to one of them.
class Reservations {
 public:
  virtual ~Reservations() = default;
  /// An event of `source` brings something to a reserved port: afterwards it is none, and as it would be without. Of
  /// the streams of that device that are due those before `stream` have gone on in this event; any_stream: all have.
  virtual void break_off(pdes::Context& context, pdes::ComponentId source, machine::LinkId link,
                         std::uint32_t stream) = 0;
  /// The same of a segment of `source` that comes now. True: the port stays reserved, and the segment has been passed
  /// on.
  [[nodiscard]] virtual bool let_pass(pdes::Context& context, pdes::ComponentId source, machine::LinkId link,
                                      const Segment& segment) = 0;
  /// Of a reserved port: in whose name packets come to it.
  [[nodiscard]] virtual pdes::ComponentId sender_to(machine::LinkId link) const = 0;
};

/// Who wants to know when a segment or amendment comes to a component that passes it on.
class ForwardedTimes {
 public:
  virtual ~ForwardedTimes() = default;
  virtual void comes(pdes::ComponentId to, Time at) = 0;
};

/// Who is told of everything that comes to a component.
class Arrivals {
 public:
  virtual ~Arrivals() = default;
  /// An event of `source`; not one that tells of packets, which come when they come, whenever that is told.
  virtual void comes(pdes::ComponentId at, pdes::ComponentId source, Time now) = 0;
  /// It brings packets that go on over a port. `meets`: whose packets have that for themselves, or nobody's.
  virtual void come(pdes::ComponentId at, pdes::ComponentId source, Time now, const Segment& segment,
                    pdes::ComponentId meets) = 0;
  static constexpr pdes::ComponentId nobody = ~pdes::ComponentId{0};
  /// Some that were told of do not come.
  virtual void amended(pdes::ComponentId at, const Amend& amend) = 0;
};

/// What all network components of a rank are handed.
struct NetworkEnvironment {
  const NetworkTables* tables = nullptr;
  const Wiring* wiring = nullptr;
  MakePort make_port;
  PacketTrace* trace = nullptr;                ///< null: off
  const Combinations* combinations = nullptr;  ///< null: none
  const machine::Machine* machine = nullptr;   ///< for messages: names of links; null: they have none
  Reservations* reservations = nullptr;        ///< null: no port is reserved
  EventCounts* counts = nullptr;               ///< null: nobody wants to know
  ForwardedTimes* forwarded = nullptr;         ///< the same
  const StandIn* stand_in = nullptr;           ///< null: every component is simulated
  SentMessages* sent = nullptr;                ///< where there is a stand-in; null: nobody wants to know
  Arrivals* arrivals = nullptr;                ///< null: nobody wants to know
};

/// Who a node belongs to: a device is told of its messages, a switch output of nothing.
class NetworkOwner {
 public:
  virtual ~NetworkOwner() = default;
  /// The last packet of one of this device's messages leaves at `at`.
  virtual void message_left(const OwnMessage& message, Time at) = 0;
  // Where destinations are told of packets (NetworkTables::tells_packets):
  /// Packets come for this device. False: they shorten an earlier segment that has not come.
  virtual bool packets_come(const Segment& segment) = 0;
  /// Of those of a segment not all do. False: it has not come.
  virtual bool packets_amended(const Amend& amend) = 0;
};

/// A segment or delivery that an amendment has taken back whole before it came.
struct TakenBack {
  MessageName name;
  std::uint32_t generation = 0;
  machine::NodeId destination = 0;
  bool operator==(const TakenBack&) const = default;
};

struct TakenBackHash {
  [[nodiscard]] std::size_t operator()(const TakenBack& what) const;
};
/// In a queue that many streams share there can be thousands.
using AllTakenBack = std::unordered_multiset<TakenBack, TakenBackHash>;

/// All that changes in a node between events.
struct NodeState {
  std::vector<std::unique_ptr<PortState>> ports;
  AllTakenBack taken_back;
  Lazy<Combiner> combiner;
};

/// A device with all its links, or one output of a switch.
class NetworkNode final : public PortSink {
 public:
  /// Both outlive the node; `owner` may be null.
  NetworkNode(const NetworkEnvironment& environment, pdes::ComponentId self, NetworkOwner* owner);

  [[nodiscard]] const std::vector<std::unique_ptr<Port>>& ports() const { return ports_; }
  [[nodiscard]] pdes::ComponentId self() const { return self_; }

  /// The port over which messages of a connection leave. Throws InternalError when there is no way.
  [[nodiscard]] std::uint32_t port_towards(const machine::Connection& connection) const;
  /// Breaks off what has the port for itself. `stream`: see Reservations.
  void break_off_reservation(pdes::Context& context, pdes::ComponentId source, std::uint32_t port,
                             std::uint32_t stream = any_stream) {
    if (ports_[port]->reserved()) [[unlikely]]
      environment_->reservations->break_off(context, source, ports_[port]->link(), stream);
  }
  /// Sends a message over a port that nobody has for himself, now; `before` and what is returned: see Injector::post.
  /// It gets under way with flush(), which has to come before the end of the event.
  Injector::Ticket post(pdes::Context& context, std::uint32_t port, const OwnMessage& message, Injector::Ticket before);
  void flush(pdes::Context& context, pdes::ComponentId source);
  /// See Port::withhold_last.
  void withhold_last(pdes::Context& context, std::uint32_t port, Injector::Ticket place);
  /// An event comes to the component: it is counted, and told to whoever wants to know.
  void comes(const pdes::Event& event) {
    if (environment_->counts != nullptr) ++(*environment_->counts)[event.kind];
    if (environment_->arrivals != nullptr && !tells_of_packets(event.kind)) [[unlikely]]
      environment_->arrivals->comes(self_, event.source, event.time);
  }
  /// Takes an event of the network: Segment, Segments, Amend or PortWake.
  void handle(pdes::Context& context, const pdes::Event& event);
  /// What has been told of ahead, and will be told of anew, is nothing when it comes.
  void take_back(const Amend& amend);
  /// Whether a Delivered event still holds.
  [[nodiscard]] bool holds(const Delivered& message);
  /// See Port::departure; over all ports.
  [[nodiscard]] Time departure(std::uint32_t stream, std::uint32_t batch) const;
  /// Completes the counts when the run has ended.
  void finish();

  // For what is simulated apart from events (laws/rings):
  [[nodiscard]] Port& port(std::uint32_t index) { return *ports_[index]; }
  /// act(sink) with the sink of its ports, in a context of this component.
  template <class Act>
  auto with_sink(pdes::Context& own, Act&& act) {
    context_ = &own;
    return act(static_cast<PortSink&>(*this));
  }
  [[nodiscard]] bool has_taken_back() const { return !taken_back_.empty(); }
  /// A BeyondTimeError with the link's name.
  [[noreturn]] void refuse_time(const Port& port) const;
  /// A message of this device has left.
  void left_apart(const OwnMessage& message, Time at) { left(message, at); }

  [[nodiscard]] NodeState state() const;
  /// Goes on from the state of another node of the same component, or of one with as many ports.
  void restore(const NodeState& state);

  void deliver(const Port& port, Time at, machine::NodeId destination, const Delivered& message) override;
  void forward(const Port& port, Time at, const Segment& segment) override;
  /// What is combined comes packet by packet.
  [[nodiscard]] bool takes_together() const override { return environment_->combinations == nullptr; }
  void forward_together(const Port& port, Time at, const Segments& segments) override;
  void amend(const Port& port, Time at, const Amend& amend) override;
  void wake(const Port& port, Time at, std::uint32_t token) override;
  void left(const OwnMessage& message, Time at) override;

 private:
  /// How messages of a port went on last. Those of one destination do so alike, where no way is bound.
  struct Way {
    machine::Connection of{0, ~machine::NodeId{0}};
    pdes::OutPort out;
    std::uint32_t shifts = 0;  ///< of what it leads to, from what is simulated for it
  };
  [[nodiscard]] std::uint32_t index_of(const Port& port) const { return port.link() - ports_.front()->link(); }
  /// act(port); where that goes beyond the range of time, the error names the link.
  template <class Act>
  void at_port(std::uint32_t port, Act&& act);
  void arrive_together(pdes::ComponentId source, const Segments& segments);
  void ends_here(const Segment& segment);
  void amend(pdes::ComponentId source, const Amend& amend);
  void tell_arrival(pdes::ComponentId source, const Segment& segment, std::uint32_t port) const;
  [[nodiscard]] bool is_taken_back(const TakenBack& what);
  [[nodiscard]] std::uint32_t combined(const Segment& segment) const;
  void combine(Segment segment, std::uint32_t messages, pdes::ComponentId source);
  void tell_forwarded(const Port& port, Time at, const machine::Connection& connection) const;
  [[nodiscard]] const Way& way(const Port& port, const machine::Connection& connection);
  [[nodiscard]] Way find_way(const Port& port, const machine::Connection& connection) const;
  template <class Message>
  void send(const Port& port, Time at, const machine::Connection& connection, const Message& message);
  template <class Message>
  void send_renamed(pdes::OutPort out, Time at, const StandIn::Ahead& ahead, Message message);
  void send_renamed(pdes::OutPort out, Time at, const StandIn::Ahead& ahead, Segments segments);

  AllTakenBack taken_back_;  // which every delivery is looked up in
  const NetworkEnvironment* environment_;
  pdes::ComponentId self_;
  NetworkOwner* owner_;
  pdes::Context* context_ = nullptr;  // while an event is handled
  std::vector<std::unique_ptr<Port>> ports_;
  std::vector<std::uint32_t> posted_;  // ports to flush
  std::vector<Way> ways_;              // by port
  Lazy<Combiner> combiner_;
};

/// An output link of a switch as a component.
class SwitchOutput final : public pdes::Component {
 public:
  SwitchOutput(const NetworkEnvironment& environment, pdes::ComponentId self) : node_(environment, self, nullptr) {}
  void handle(pdes::Context& context, const pdes::Event& event) override {
    node_.comes(event);
    node_.handle(context, event);
  }
  [[nodiscard]] NetworkNode& node() { return node_; }

 private:
  NetworkNode node_;
};

}  // namespace tessera::sim
