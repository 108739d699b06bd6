#include "sim/laws/rounds/round_history.hpp"

#include <algorithm>
#include <utility>

namespace tessera::sim {
namespace {

/// Rounds of a loop that are looked at one after the other. Where none is as another one, looks rest for twice as many
/// rounds each time, since what a pipeline is filled with takes some to settle.
constexpr std::uint32_t looks_in_a_row = 3, most_doublings = 20;
/// Rounds of a loop whose likeness is remembered.
constexpr std::size_t most_remembered = 65'536;

/// Both in the same loops, of which one is in another round.
bool differ_by_rounds(const std::vector<Frame>& a, const std::vector<Frame>& b) {
  const auto is_elsewhere = [](const Frame& one, const Frame& other) {
    return one.block != other.block || one.next != other.next;
  };
  if (a.size() != b.size()) return false;
  std::size_t others = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (is_elsewhere(a[i], b[i])) return false;
    if (a[i].repeats != b[i].repeats) ++others;
  }
  return others == 1;
}

}  // namespace

bool RoundHistory::Loop::is_worth_a_look() const {
  if (failures % looks_in_a_row != 0) return true;
  return rests >> std::min(failures / looks_in_a_row, most_doublings) > 0;
}

bool RoundHistory::Loop::is_like_before(std::uint64_t likeness) {
  if (last_like.size() >= most_remembered) last_like.clear();
  const auto [found, is_first] = last_like.try_emplace(likeness, rounds);
  const std::uint64_t before = std::exchange(found->second, rounds);
  if (rounds == due) return true;
  if (is_first || rounds < resting_until) return false;
  const std::uint64_t period = rounds - before;
  due = rounds + period;
  resting_until = due + (period << std::min(pairs, most_doublings));
  ++pairs;
  return true;
}

std::optional<AlikeRounds> RoundHistory::look(const LoopRound& round, const std::vector<Frame>& position,
                                              ListedState now) {
  bool in_vain = !now.is_quiet;
  for (std::size_t i = 0; i < kept_.size() && now.is_quiet; ++i) {
    if (!differ_by_rounds(kept_[i].position, position)) continue;
    in_vain = true;
    const std::int64_t times = repeats_between(kept_[i].standing, now);
    if (times == 0) continue;
    loop(round) = {};
    return AlikeRounds{kept_[i].standing, std::move(now), times};
  }
  if (in_vain) ++loop(round).failures;
  if (now.is_quiet) keep({position, std::move(now)});
  return std::nullopt;
}

void RoundHistory::keep(Kept kept) {
  kept_words_ += kept.standing.words();
  kept_.push_front(std::move(kept));
  for (; kept_words_ > words_; kept_.pop_back()) kept_words_ -= kept_.back().standing.words();
}

}  // namespace tessera::sim
