// The moments at which the loops of a device were looked at, and which of them are alike.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <tuple>
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
  /// Another round has begun; whether it is worth a look.
  [[nodiscard]] bool begins(const LoopRound& round);
  /// `now`: at the beginning of that round, where the device stands at `position`.
  [[nodiscard]] std::optional<AlikeRounds> look(const LoopRound& round, const std::vector<Frame>& position,
                                                ListedState now);
  /// Looks at that loop that were in vain since the last one that was not.
  [[nodiscard]] std::uint32_t failures(const LoopRound& round) { return loop(round).failures; }

 private:
  /// A loop of the program, whoever calls it.
  struct Loop {
    std::uint32_t failures = 0;
    std::uint32_t rests = 0;  ///< turns since the last look
    [[nodiscard]] bool is_worth_a_look() const;
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
