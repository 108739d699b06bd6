// The steps of a collective round rings in the order in which they become known, in the place of a walk through all at
// once: as its members enter, and as those of its messages are posted that members carry out step by step.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/laws/rings/ring_stand.hpp"

namespace tessera::sim {

/// A message that a member posts which goes step by step.
struct RingPost {
  Time at = 0;
  Time waited_until = 0;   ///< that it tells
  std::uint32_t kind = 0;  ///< in RingWork::sizes
};

/// What does not follow from the others: by rank, when members enter that go without steps; by way, what has been
/// posted by those that go step by step, and how many messages have come to them. The latter are empty where there is
/// none.
struct RingInputs {
  const std::vector<RingEntry>& entries;
  const std::vector<std::vector<RingPost>>& posts;
  const std::vector<std::uint32_t>& received;
};

class RingWaves {
 public:
  /// A message for a member that goes step by step.
  struct Comes {
    std::uint32_t way = 0;
    std::uint32_t number = 0;  ///< of those on this way
    Time at = 0;
    Time waited_until = 0;
  };

  /// Both outlive it. Paths are where the collective begins.
  RingWaves(RingParts& parts, const RingWork& work);
  /// The same up to an event, as in progress_at().
  RingWaves(RingParts& parts, const RingWork& work, const Moment& event, const std::vector<bool>& to_come);

  /// A member that goes without steps.
  void enter(std::uint32_t rank, const RingEntry& entry);
  void post(std::uint32_t way, const RingPost& message);
  /// In the place of all members' entries and of what follows up to there.
  void go_on_from(const RingStand& stand);
  void take_in(const RingInputs& inputs);

  /// What has become known since the last call.
  [[nodiscard]] std::vector<Comes> take_comes() { return std::exchange(comes_, {}); }
  /// Ranks of members that go without steps and whose ends have.
  [[nodiscard]] std::vector<std::uint32_t> take_ended() { return std::exchange(ended_, {}); }
  [[nodiscard]] bool has_ended(std::uint32_t rank) const { return over_[rank] == parts_.shape.strands; }
  [[nodiscard]] TakenEnd end_of(std::uint32_t rank) const;
  /// Of its messages, the latest join of those on whom they depend.
  [[nodiscard]] Time waited_until(std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t sent(std::uint32_t way) const { return sent_[way]; }

  /// By seat. `received`: by way, messages that have come to members that go step by step.
  [[nodiscard]] std::vector<StepProgress> progress(const std::vector<std::uint32_t>& received);

 private:
  /// On its way, and not taken.
  struct Message {
    Time at = 0;  ///< when it is delivered
    Time waited_until = 0;
    std::uint32_t kind = 0;
  };
  struct Queue {
    std::vector<Message> messages;
    std::size_t first = 0;
    [[nodiscard]] bool is_empty() const { return first == messages.size(); }
  };
  struct Seat {
    Moment at{never, 0};  ///< posted == taken: when it posts, or has ended
    Time ended = 0;
    Time waited_until = 0;
    std::uint32_t posted = 0, taken = 0;
    std::uint32_t pass = 0, left = 0;               ///< steps of the pass that it has not taken
    std::array<std::uint32_t, most_slots> kinds{};  ///< of what it sends next, by slot of the pass
  };

  [[nodiscard]] const RingPass& pass_of(const Seat& seat) const { return work_.passes[seat.pass]; }
  [[nodiscard]] std::uint32_t way_in(std::uint32_t slot, std::uint32_t seat) const {
    return parts_.shape.way(slot, parts_.senders[parts_.shape.way(slot, seat)]);
  }
  [[nodiscard]] Moment arrival(const Message& message, std::uint32_t slot, std::uint32_t seat) const {
    return {message.at, parts_.hops[parts_.shape.way(slot, seat)]};
  }
  void go_on();
  [[nodiscard]] bool may_post(std::uint32_t seat) const;
  [[nodiscard]] bool may_take(std::uint32_t seat) const;
  void post_step(std::uint32_t seat);
  void take_step(std::uint32_t seat);
  void begin_pass(std::uint32_t seat);
  void send(std::uint32_t way, const RingPost& message);
  void place_messages(std::uint32_t way, const std::vector<std::uint32_t>& received,
                      std::vector<StepProgress>& progress) const;

  RingParts& parts_;
  const RingWork& work_;
  Moment event_{never, 0}, end_{never, 0};
  const std::vector<bool>* to_come_ = nullptr;
  std::vector<Seat> seats_;
  std::vector<Queue> queues_;         // by way
  std::vector<std::uint32_t> sent_;   // by way
  std::vector<std::uint32_t> over_;   // by rank: seats
  std::vector<std::uint32_t> ready_;  // seats that may go on
  std::vector<Comes> comes_;
  std::vector<std::uint32_t> ended_;
};

/// By seat, what has taken place before an event, and by it where a seat waits for that. (What it does not wait for yet
/// may come behind a message of before, which takes as little time.) Seats post in it, but for those `to_come`; empty:
/// none. Paths are behind what has been posted (RingWay::take_last).
[[nodiscard]] std::vector<StepProgress> progress_at(const Moment& event, const std::vector<bool>& to_come,
                                                    RingParts& parts, const RingWork& work, const RingInputs& inputs);

}  // namespace tessera::sim
