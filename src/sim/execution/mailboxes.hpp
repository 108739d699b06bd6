// What has come for a device and what it waits for, by sender and channel.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/network/injector.hpp"
#include "tessera/base/time.hpp"
#include "tessera/machine/machine.hpp"

namespace tessera::sim {

/// Messages of one sender on one channel match the receives in order. They come in the order in which they were sent:
/// they leave so (network/injector.hpp), and all take the same way.
class Mailboxes {
 public:
  using Index = std::uint32_t;

  /// The box of a sender and channel, new when it is the first use. Indices change when a box is added; `hint` is tried
  /// first.
  [[nodiscard]] Index find(machine::NodeId sender, std::uint32_t channel, Index hint = 0);
  /// Takes the next message out of a box, for `stream`: its `waited_until` (network/messages.hpp) when it is here;
  /// otherwise deliver() will say when it is.
  [[nodiscard]] std::optional<Time> take(Index box, std::uint32_t stream);
  /// A message has come. The stream that waits for it, if one does.
  [[nodiscard]] std::optional<std::uint32_t> deliver(Index box, Time waited_until);

  /// A message that was taken before it came.
  struct Awaited {
    machine::NodeId sender = 0;
    std::uint32_t channel = 0;
  };
  /// What a stream waits for, in order of channel and sender.
  [[nodiscard]] std::vector<Awaited> awaited(std::uint32_t stream) const;

  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Box {
    std::uint64_t key = 0;                    ///< channel, sender
    std::uint32_t missing = 0;                ///< messages that were taken and have not come
    std::uint32_t stream = 0;                 ///< that takes from it
    std::uint32_t first = none, last = none;  ///< of its early messages
  };
  /// A message that came before it was taken. Those of a box are linked in order.
  struct Early {
    Time waited_until = 0;
    std::uint32_t next = none;
  };
  /// All that changes.
  struct State {
    std::vector<Box> boxes;  ///< in order of key
    std::vector<Early> early;
    std::uint32_t unused = none;  ///< first of the places in `early` that are free, linked
  };
  [[nodiscard]] State& state() { return state_; }

 private:
  void add_early(Box& box, Time waited_until);

  State state_;
};

/// Numbers of the messages that a device sends, by destination and channel, and the way they take.
class Outboxes {
 public:
  struct Box {
    std::uint64_t key = 0;                          // channel, destination
    std::uint32_t next = 0;                         // number of the next message
    std::uint32_t port = 0;                         // of the device
    Injector::Ticket latest = Injector::no_ticket;  // in line there
  };
  /// The box of a destination and channel; null when there is none yet. `hint` is tried first and updated.
  [[nodiscard]] Box* find(machine::NodeId destination, std::uint32_t channel, std::uint32_t& hint);
  Box& add(machine::NodeId destination, std::uint32_t channel, std::uint32_t port);

 private:
  std::vector<Box> boxes_;  // in order of key
};

}  // namespace tessera::sim
