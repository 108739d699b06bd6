// The moments at which the loops of a device were looked at, and which of them are alike.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/execution/device_state.hpp"
#include "sim/laws/rounds/state_list.hpp"

namespace tessera::sim {

/// Two moments that are alike, and how often what was between them follows itself from the later one on.
struct AlikeRounds {
  ListedState from, to;
  std::int64_t times = 0;
  [[nodiscard]] Period period() const { return {from, to, times}; }
};

class RoundHistory {
 public:
  /// What is kept of the past, in numbers of 8 bytes: of a whole simulation some rounds of a pipeline, at each round of
  /// the loops inside.
  static constexpr std::size_t most_words = 4'000'000;
  explicit RoundHistory(std::size_t words) : words_(words) {}
  /// Another round has begun; whether it is worth a look. `likeness()`: a number that is the same at moments that are
  /// alike, and rarely at others.
  template <class Likeness>
  [[nodiscard]] bool begins(const LoopRound& round, const Likeness& likeness) {
    Loop& loop = this->loop(round);
    ++loop.rests;
    ++loop.rounds;
    const bool is_like = loop.failures >= looks_before_likeness && loop.is_like_before(likeness());
    if (!is_like && !loop.is_worth_a_look()) return false;
    loop.rests = 0;
    return true;
  }
  /// `now`: at the beginning of that round, where the device stands at `position`.
  [[nodiscard]] std::optional<AlikeRounds> look(const LoopRound& round, const std::vector<Frame>& position,
                                                ListedState now);
  /// Looks at that loop that were in vain since the last one that was not.
  [[nodiscard]] std::uint32_t failures(const LoopRound& round) { return loop(round).failures; }

 private:
  /// Where rounds next to each other are alike, they are so at one of these.
  static constexpr std::uint32_t looks_before_likeness = 6;

  /// A loop of the program, whoever calls it.
  struct Loop {
    std::uint32_t failures = 0;
    std::uint32_t rests = 0;  ///< turns since the last look
    std::uint64_t rounds = 0;
    // What repeats itself after several rounds is looked at twice: when one is like an earlier one, and as many later.
    std::unordered_map<std::uint64_t, std::uint64_t> last_like;  ///< round by likeness
    std::uint64_t due = 0;                                       ///< round of the second look
    std::uint64_t resting_until = 0;
    std::uint32_t pairs = 0;  ///< of looks that were in vain
    [[nodiscard]] bool is_worth_a_look() const;
    [[nodiscard]] bool is_like_before(std::uint64_t likeness);
  };
  struct Kept {
    std::vector<Frame> position;
    ListedState standing;
  };
  [[nodiscard]] Loop& loop(const LoopRound& round) { return loops_[{round.device, round.depth, round.block}]; }
  void keep(Kept kept);

  std::map<std::tuple<program::DeviceId, std::size_t, program::BlockId>, Loop> loops_;
  std::deque<Kept> kept_;  // the latest first
  std::size_t words_;
  std::size_t kept_words_ = 0;
};

}  // namespace tessera::sim
