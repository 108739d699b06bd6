// A device's own messages on one of its links: they take turns, a packet each.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/sim/network/messages.hpp"

namespace tessera::sim {

/// A message that a device sends.
struct OwnMessage {
  MessageName name;
  machine::NodeId destination = 0;
  std::int64_t bytes = 0;
  Time waited_until = 0;        ///< see messages.hpp
  std::int64_t last_bytes = 0;  ///< B in its last packet
  std::uint32_t packets_left = 0;
  std::uint32_t stream = 0;  ///< that posted it
  std::uint32_t batch = 0;   ///< of the stream: messages whose departure is waited for together
  Time joined = 0;           ///< the line, latest
  bool awaited = false;      ///< its departure is told when it happens, even where nothing else does
};

inline constexpr std::uint32_t any_batch = ~std::uint32_t{0};

/// One packet is offered at a time. When it has left, at T, the next message in line offers one: those that were in
/// line before T, then the one whose packet left if it has more, then those that came at T itself.
class Injector {
 public:
  /// What is offered next.
  struct Offer {
    const OwnMessage* message = nullptr;  ///< null: nothing
    Time time = 0;
    bool alone = false;  ///< no other message is active
  };

  void post(const OwnMessage& message) { line_.push_back(message); }
  /// Number of messages that have not been sent whole.
  [[nodiscard]] std::size_t active() const { return line_.size() - head_ + (current_.packets_left > 0 ? 1 : 0); }
  [[nodiscard]] bool empty() const { return active() == 0; }
  [[nodiscard]] Offer offer();
  /// The offered message has sent `packets`, the last of which left at `left`. The message is as before, but for
  /// packets_left.
  const OwnMessage& sent(std::uint32_t packets, Time left);
  /// How many rounds of one packet each all active messages can send from now on, as long as nothing new comes, without
  /// the last packet of any; 0 where messages have yet to fall in line.
  [[nodiscard]] std::uint32_t whole_rounds() const;
  /// Of `takers` messages in such rounds, the one whose turn has this index.
  [[nodiscard]] const OwnMessage& in_turn(std::uint32_t index, std::uint32_t takers) const {
    return index + 1 < takers ? line_[head_ + index] : current_;
  }
  /// In such rounds, `packets` have been sent, the last of which left at `left`.
  void sent_in_turns(std::uint32_t packets, std::uint32_t takers, Time left);

  /// Number of messages of this stream and batch that have not been sent whole.
  [[nodiscard]] std::uint32_t held(std::uint32_t stream, std::uint32_t batch) const;

 private:
  [[nodiscard]] bool turn_passes_on() const;
  void pop_into_current();

  OwnMessage current_;            // the one that sent last; packets_left 0: none
  Time left_ = 0;                 // when its last packet left
  std::vector<OwnMessage> line_;  // from head_ on, in turn
  std::size_t head_ = 0;
};

}  // namespace tessera::sim
