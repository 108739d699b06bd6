#include "sim/laws/rounds/state_list.hpp"

#include <algorithm>
#include <limits>

namespace tessera::sim {
namespace {

/// Whether each moves along, or is in the past at both moments, where it has to stay unless it `may_differ`.
bool are_alike(const std::vector<Time>& from, const std::vector<Time>& to, const ListedState& a, const ListedState& b,
               bool may_differ) {
  if (from.size() != to.size()) return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const bool moves = to[i] - from[i] == b.now - a.now;
    const bool is_past = from[i] < a.now && to[i] < b.now && (may_differ || from[i] == to[i]);
    if (!moves && !is_past && !(from[i] == never && to[i] == never)) return false;
  }
  return true;
}

/// How often what was added fits in once more.
template <class T>
std::int64_t most_additions(const std::vector<T>& from, const std::vector<T>& to, T limit, std::int64_t most) {
  for (std::size_t i = 0; i < to.size(); ++i) {
    const T more = added(from, to, i);
    if (more > 0) most = static_cast<std::int64_t>(std::min<Int128>(most, (limit - to[i]) / more));
  }
  return most;
}

/// Of each stream at most one loop goes round; 0: not so, or it is over.
std::int64_t most_rounds(const ListedState& from, const ListedState& to, std::int64_t most) {
  if (from.left.size() != to.left.size()) return 0;
  for (std::size_t stream = 0; stream < to.loops.size(); ++stream) {
    const std::size_t end = stream + 1 < to.loops.size() ? to.loops[stream + 1] : to.left.size();
    bool any = false;
    for (std::size_t i = to.loops[stream]; i < end; ++i) {
      if (from.left[i] == to.left[i]) continue;
      if (any || from.left[i] < to.left[i]) return 0;
      any = true;
      most = std::min<std::int64_t>(most, (to.left[i] - 1) / (from.left[i] - to.left[i]));
    }
  }
  return most;
}

// Of ListedState::memories.
constexpr std::size_t total_at = 0, peak_at = 1, peak_time_at = 2, by_category_at = 3, lists = 3;

/// A level that is higher by as much in each round leads to a peak that is higher by as much, if that was reached in
/// the last round. One that is not leads to none.
bool peaks_follow(std::int64_t more, std::int64_t peak_before, std::int64_t peak) {
  return more <= 0 || peak > peak_before;
}

bool memories_follow(const ListedState& from, const ListedState& to) {
  const std::vector<std::int64_t>&a = from.memories, &b = to.memories;
  if (a.size() != b.size()) return false;
  const std::size_t categories = to.categories;
  for (std::size_t at = 0; at < b.size(); at += by_category_at + lists * categories) {
    if (!peaks_follow(b[at + total_at] - a[at + total_at], a[at + peak_at], b[at + peak_at])) return false;
    for (std::size_t i = at + by_category_at; i < at + by_category_at + categories; ++i) {
      if (!peaks_follow(b[i] - a[i], a[i + categories], b[i + categories])) return false;
    }
  }
  return true;
}

}  // namespace

void StateList::memory(MemoryAccount& memory) {
  const std::size_t categories = memory.level.size();
  if (into_ != nullptr) {
    into_->categories = categories;
    auto& all = into_->memories;
    all.insert(all.end(), {memory.total, memory.peak, memory.peak_time});
    for (const auto* list : {&memory.level, &memory.category_peak, &memory.at_peak})
      all.insert(all.end(), list->begin(), list->end());
    return;
  }
  const std::size_t at = next_memory_;
  next_memory_ += by_category_at + lists * categories;
  const auto more = [&](std::size_t i) {
    return (period_->to.memories[i] - period_->from.memories[i]) * period_->times;
  };
  const auto grows = [&](std::size_t i) { return period_->to.memories[i] > period_->from.memories[i]; };
  const bool peaks = grows(at + total_at);
  if (peaks) {
    memory.peak += more(at + total_at);
    memory.peak_time += period_->skipped();
  }
  memory.total += more(at + total_at);
  for (std::size_t i = 0; i < categories; ++i) {
    const std::int64_t level = more(at + by_category_at + i);
    memory.level[i] += level;
    if (grows(at + by_category_at + i)) memory.category_peak[i] += level;
    if (peaks) memory.at_peak[i] += level;
  }
}

std::int64_t repeats_between(const ListedState& from, const ListedState& to) {
  if (!from.is_quiet || !to.is_quiet || from.now >= to.now || from.same != to.same || from.loops != to.loops) return 0;
  if (from.sums.size() > to.sums.size() || from.large_sums.size() > to.large_sums.size()) return 0;
  if (!memories_follow(from, to)) return 0;
  if (!are_alike(from.times, to.times, from, to, false) || !are_alike(from.limits, to.limits, from, to, true)) return 0;
  // Far from the end of time, so that whatever goes beyond it is simulated.
  const Time room = latest / 2 - to.now;
  const std::int64_t in_time = room > 0 ? room / (to.now - from.now) : 0;
  const std::int64_t rounds = most_rounds(from, to, in_time);
  const std::int64_t most = most_additions(from.sums, to.sums, std::numeric_limits<std::int64_t>::max(), rounds);
  return most_additions(from.large_sums, to.large_sums, static_cast<Int128>(1) << 126U, most);
}

}  // namespace tessera::sim
