// Folds sequences into loops: first what repeats within a few actions (one micro-batch after the other), then what
// repeats among those loops (one group of micro-batches after the other).
#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/program/schedule.hpp"

namespace tessera::program {
namespace {

/// Indexes of distinct loops: comparing numbers is what makes the search for repeats quick.
class Symbols {
 public:
  std::uint32_t index_of(const ScheduleLoop& loop) {
    const auto index = static_cast<std::uint32_t>(std::find(loops_.begin(), loops_.end(), loop) - loops_.begin());
    if (index == loops_.size()) loops_.push_back(loop);
    return index;
  }
  [[nodiscard]] const ScheduleLoop& operator[](std::uint32_t index) const { return loops_[index]; }

 private:
  std::vector<ScheduleLoop> loops_;
};

struct Repeat {
  std::size_t period = 1;
  std::size_t times = 1;
};

/// How often the `period` symbols from `at` on follow each other.
std::size_t repeats(const std::vector<std::uint32_t>& symbols, std::size_t at, std::size_t period) {
  std::size_t times = 1;
  const auto begin = symbols.begin() + static_cast<std::ptrdiff_t>(at);
  const auto length = static_cast<std::ptrdiff_t>(period);
  for (auto next = begin + length; symbols.end() - next >= length && std::equal(begin, begin + length, next);
       next += length) {
    ++times;
  }
  return times;
}

/// The repeat at `at` that saves the most symbols; the shortest period among equals.
Repeat best_repeat(const std::vector<std::uint32_t>& symbols, std::size_t at, std::size_t longest) {
  Repeat best;
  std::size_t saved = 0;
  for (std::size_t period = 1; period <= longest && at + 2 * period <= symbols.size(); ++period) {
    const std::size_t times = repeats(symbols, at, period);
    if (period * (times - 1) > saved) {
      saved = period * (times - 1);
      best = {period, times};
    }
  }
  return best;
}

std::vector<ScheduleLoop> fold_once(const std::vector<ScheduleLoop>& loops, std::size_t longest) {
  Symbols known;
  std::vector<std::uint32_t> symbols;
  symbols.reserve(loops.size());
  for (const ScheduleLoop& loop : loops) symbols.push_back(known.index_of(loop));
  std::vector<ScheduleLoop> folded;
  for (std::size_t at = 0; at < symbols.size();) {
    const Repeat repeat = best_repeat(symbols, at, longest);
    if (repeat.period == 1) {
      folded.push_back(known[symbols[at]]);
      folded.back().times *= static_cast<std::uint32_t>(repeat.times);
    } else {
      ScheduleLoop loop;
      loop.times = static_cast<std::uint32_t>(repeat.times);
      for (std::size_t i = 0; i < repeat.period; ++i) loop.body.push_back(known[symbols[at + i]]);
      folded.push_back(std::move(loop));
    }
    at += repeat.period * repeat.times;
  }
  return folded;
}

void append(const ScheduleLoop& loop, std::vector<PipelineAction>& actions) {
  for (std::uint32_t i = 0; i < loop.times; ++i) {
    if (loop.action) actions.push_back(*loop.action);
    for (const ScheduleLoop& inner : loop.body) append(inner, actions);
  }
}

}  // namespace

ScheduleLoop fold(const std::vector<PipelineAction>& actions) {
  constexpr std::size_t longest_step = 4;      // forward, exchange, backward, exchange
  constexpr std::size_t longest_period = 256;  // of loops, in a group of micro-batches
  std::vector<ScheduleLoop> loops;
  loops.reserve(actions.size());
  for (const PipelineAction& action : actions) loops.push_back({1, action, {}});
  loops = fold_once(loops, longest_step);
  loops = fold_once(loops, longest_period);
  return {1, std::nullopt, std::move(loops)};
}

std::vector<PipelineAction> unfold(const ScheduleLoop& loop) {
  std::vector<PipelineAction> actions;
  append(loop, actions);
  return actions;
}

}  // namespace tessera::program
