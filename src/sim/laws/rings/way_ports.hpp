// Links in a row that carry the messages of one device to another one and nothing else, with events of their own: what
// the ports of the components would do, apart from the engine.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "sim/execution/takeover.hpp"
#include "sim/laws/trains/train_port.hpp"

namespace tessera::sim {

/// A packet of somebody else, all that is left of its message, that comes to the last link of a way.
struct Guest {
  Moment at;
  Segment segment;
  std::uint32_t generation = 0;  ///< under which it has been told of behind the link
};

class WayPorts final : public PortSink {
 public:
  /// What has been announced and has not taken place: to the hop `to`, or, from the last one, to the destination.
  struct Announced {
    enum class Kind : std::uint8_t { segment, delivered, wake, amend };
    Kind kind = Kind::wake;
    Moment at;
    pdes::ComponentId by = 0;  ///< who has announced it; at.source, but where that one stands for others
    std::uint32_t number = 0;  ///< in the order of the announcements
    std::size_t to = 0;
    Segment segment;
    Delivered delivered;
    Amend amend;
    std::uint32_t token = 0;  ///< of a wake
  };
  using Left = std::function<void(const OwnMessage&, Time)>;
  /// Names a segment or delivery from a hop for what is behind, where other components are simulated for it.
  using Rename = std::function<void(Announced&, std::size_t)>;

  /// `ports`: from the device's own on; they outlive it. `servers`: their components. `left`: PortSink::left, may be
  /// empty; and so may `rename`.
  WayPorts(std::vector<TrainPort*> ports, std::vector<pdes::ComponentId> servers, Left left = {}, Rename rename = {});

  /// Nothing takes place from this event on, but for what is posted in it.
  void stop_before(const Moment& event) { limit_ = event; }
  /// Posts a message when all before then has taken place. Times never decrease; all are of one connection.
  void post(Time at, OwnMessage message);
  /// A guest comes when all before has taken place. What is announced of it is kept apart: last_guest().
  void arrive(const Guest& guest);
  [[nodiscard]] const Announced& last_guest() const { return last_guest_; }
  /// Those of which nothing has been announced yet: others come before them.
  [[nodiscard]] std::vector<Guest> waiting_guests() const;
  /// All that takes place before `end`.
  void run_until(const Moment& end);
  /// When the last message arrived that has come to its destination.
  [[nodiscard]] Time last_delivery() const { return last_delivery_; }
  /// The port that has done something last.
  [[nodiscard]] std::size_t active() const { return active_; }
  /// In their order.
  [[nodiscard]] std::vector<Announced> left_over();
  /// Of the own port, of the message posted last.
  [[nodiscard]] Injector::Ticket place() const { return place_; }

  void deliver(const Port& port, Time at, machine::NodeId destination, const Delivered& message) override;
  void forward(const Port& port, Time at, const Segment& segment) override;
  [[nodiscard]] bool takes_together() const override { return false; }
  void forward_together(const Port& port, Time at, const Segments& segments) override;
  void amend(const Port& port, Time at, const Amend& amend) override;
  void wake(const Port& port, Time at, std::uint32_t token) override;
  void left(const OwnMessage& message, Time at) override;

 private:
  [[nodiscard]] const Guest* guest(const MessageName& name) const;  // null: it is none
  [[nodiscard]] std::size_t hop_of(const Port& port) const;
  void announce(Announced announced, std::size_t from, Time at);
  void take_place(const Announced& announced);

  std::vector<TrainPort*> ports_;
  std::vector<pdes::ComponentId> servers_;
  Left left_;
  Rename rename_;
  Moment limit_{never, 0};
  std::vector<Guest> guests_;
  Announced last_guest_;
  std::vector<MessageName> told_guests_;
  std::vector<std::pair<MessageName, std::uint32_t>> taken_back_;  // deliveries, with their generations
  std::vector<Announced> pending_;                                 // heap, the next first
  std::uint32_t announced_ = 0;
  Injector::Ticket place_ = Injector::no_ticket;
  Time last_delivery_ = 0;
  std::size_t active_ = 0;
};

}  // namespace tessera::sim
