// A device's own messages on one of its links. Those of one connection (a destination and a channel) leave one after
// another, in the order of posting; connections take turns, a packet each.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/messages.hpp"

namespace tessera::sim {

/// A message that a device sends.
struct OwnMessage {
  MessageName name;
  machine::NodeId destination = 0;
  Time waited_until = 0;        ///< see messages.hpp
  std::int64_t last_bytes = 0;  ///< B in its last packet
  std::uint32_t packets_left = 0;
  std::uint32_t stream = 0;  ///< that posted it
  std::uint32_t batch = 0;   ///< of the stream: messages whose departure is waited for together
  bool goes_on = false;      ///< its last packet follows as a message of its own
  std::int64_t bytes = 0;    ///< B, of the whole message
  bool awaited = false;      ///< its departure is told when it happens, even where nothing else does
  Time joined = 0;           ///< when its connection fell in line with it, latest
};

inline constexpr std::uint32_t any_batch = ~std::uint32_t{0};

/// One packet is offered at a time. When it has left, at T, the next connection in line offers one: those that were in
/// line before T, then the one whose packet left if it has more, then those that came at T itself. What is posted at T
/// itself comes at T, also where its connection has just sent the message before.
class Injector {
 public:
  using Ticket = std::uint32_t;
  static constexpr Ticket no_ticket = ~Ticket{0};

  /// What is offered next.
  struct Offer {
    const OwnMessage* message = nullptr;  ///< null: nothing
    Time time = 0;
    bool alone = false;  ///< no other connection is active
  };

  /// Whether a message follows one of its connection that has yet to leave. `before`: the place of the message that was
  /// posted before it on this connection, or no_ticket.
  [[nodiscard]] bool follows(const OwnMessage& message, Ticket before) const;
  /// Puts a message in line, or behind `before` if it follows it; the place that it has until it has left.
  Ticket post(const OwnMessage& message, Ticket before);
  /// Number of connections that have something to send.
  [[nodiscard]] std::size_t active() const {
    return state_.line.size() - state_.head + (state_.current != no_ticket ? 1 : 0);
  }
  [[nodiscard]] bool empty() const { return state_.messages == 0; }
  /// Number of messages that have not been sent whole.
  [[nodiscard]] std::size_t messages() const { return state_.messages; }
  [[nodiscard]] Offer offer() const;
  /// The offered message has sent `packets`, the last of which left at `left`. The message is as before, but for
  /// packets_left; it is good until the next one is posted.
  const OwnMessage& sent(std::uint32_t packets, Time left);
  [[nodiscard]] const OwnMessage& at(Ticket place) const { return state_.places[place].message; }
  /// The messages at the front of all connections, in the order in which they offer packets once the next one has left,
  /// as long as nothing new comes and none has been sent whole.
  [[nodiscard]] std::vector<Ticket> turns() const;
  /// What a message in turns() has sent.
  struct Sent {
    Ticket place = no_ticket;
    std::uint32_t packets = 0;
  };
  /// All that turns() told have sent so many packets, a round after another: the last packet of all, of the one with
  /// the index `last`, left at `left`. Messages without packets left are gone.
  void sent_in_turns(const std::vector<Sent>& sent, std::size_t last, Time left);

  /// The last packet of a message, which has not been chosen, is taken from it, and comes as a message of its own
  /// later. `stays`: it keeps its place even without a packet left, until sent_in_turns().
  void withhold_last(Ticket place, std::int64_t packet, bool stays);

  /// When the last packet left, or will.
  [[nodiscard]] Time left() const { return state_.left; }
  /// Goes on behind a packet that leaves then.
  void begin_behind(Time left) { state_.left = left; }
  /// Number of messages of this stream and batch that have not been sent whole.
  [[nodiscard]] std::uint32_t held(std::uint32_t stream, std::uint32_t batch) const;

  /// A message, or an unused place.
  struct Held {
    OwnMessage message;
    Ticket next = no_ticket;   ///< the one behind it on its connection; of an unused place, another unused one
    std::uint32_t number = 0;  ///< in the order of posting
  };
  /// All that changes.
  struct State {
    std::vector<Held> places;
    Ticket unused = no_ticket;  ///< the first one
    std::size_t messages = 0;   ///< in `places`
    std::uint32_t posted = 0;
    Ticket current =
        no_ticket;  ///< at the front of the connection that sent last, or alone; no_ticket: it has sent all
    machine::NodeId last_destination = 0;  ///< of that connection
    std::uint32_t last_channel = 0;
    Time left = 0;             ///< when its last packet left
    std::vector<Ticket> line;  ///< from `head` on, in turn: the fronts of the other connections
    std::size_t head = 0;
  };
  [[nodiscard]] State& state() { return state_; }

 private:
  [[nodiscard]] Time joined(std::size_t index) const { return state_.places[state_.line[index]].message.joined; }
  [[nodiscard]] bool turn_passes_on() const;
  [[nodiscard]] bool is_last_sent(const OwnMessage& message) const;
  Ticket add(const OwnMessage& message);
  void make_current(Ticket place);
  Ticket remove(Ticket place);
  void pop_into_current();
  void fall_in_line(Ticket place);
  void end_current();

  State state_;
};

}  // namespace tessera::sim
