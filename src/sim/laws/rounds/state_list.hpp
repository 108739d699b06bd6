// The state of a simulation at a moment as a list of numbers: what has to be the same for two moments to be alike, and
// what differs between them. One list function a part serves both, to read its state and to move it on.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "sim/execution/accounts.hpp"
#include "sim/execution/stream.hpp"
#include "tessera/base/integers.hpp"
#include "tessera/base/time.hpp"

namespace tessera::sim {

/// A moment. What only tells things apart (numbers of messages, tokens) is not in it.
struct ListedState {
  Time now = 0;
  bool is_quiet = true;            ///< nothing is under way that is not listed
  std::vector<std::int64_t> same;  ///< equal at moments that are alike
  std::vector<Time> times;         ///< move along with the moment; what is in the past may also stay where it is
  std::vector<Time> limits;        ///< the same, but for those that are in the past: they do not matter
  /// Of what has been done so far. What was not begun by the earlier of two moments is missing there, at the end. The
  /// most of something so far is not listed: a round that is as the last one adds nothing to that.
  std::vector<std::int64_t> sums;
  std::vector<Int128> large_sums;
  std::vector<std::int64_t> memories;  ///< of each device: total, peak, its time; by category: level, peak, at the peak
  std::vector<std::uint32_t> left;     ///< repeats of loops
  std::vector<std::size_t> loops;      ///< by stream: where its loops begin in `left`
  std::size_t categories = 0;          ///< of memory

  /// Of 8 bytes, about.
  [[nodiscard]] std::size_t words() const {
    return same.size() + times.size() + limits.size() + sums.size() + 2 * large_sums.size() + memories.size() +
           left.size() + loops.size();
  }
};

/// Two moments that are alike but for one round of loops, which follows itself `times` times more.
struct Period {
  const ListedState& from;
  const ListedState& to;
  std::int64_t times = 0;
  [[nodiscard]] Time length() const { return to.now - from.now; }
  [[nodiscard]] Time skipped() const { return times * length(); }
};

/// To one of ListedState's sums between two moments.
template <class T>
[[nodiscard]] T added(const std::vector<T>& from, const std::vector<T>& to, std::size_t i) {
  return i < from.size() ? to[i] - from[i] : to[i];
}

class StateList {
 public:
  /// Reads. `names_say_ways`: messages to one device may take several ways, by their senders and channels.
  explicit StateList(ListedState& into, bool names_say_ways = false)
      : into_(&into), now_(into.now), names_say_ways_(names_say_ways) {}
  /// Moves on a state that is as at `period.to`.
  explicit StateList(const Period& period) : period_(&period), now_(period.to.now) {}

  [[nodiscard]] Time now() const { return now_; }
  /// How many rounds it moves on, or back; 0: it reads.
  [[nodiscard]] std::int64_t times() const { return period_ == nullptr ? 0 : period_->times; }
  /// Of these: how long each is.
  [[nodiscard]] Time round() const { return period_->length(); }
  /// Something is under way that is not listed.
  void refuse() {
    if (into_ != nullptr) into_->is_quiet = false;
  }

  template <class T>
  void same(T value) {
    if (into_ != nullptr) into_->same.push_back(static_cast<std::int64_t>(value));
  }
  /// What only tells things apart: at moments that are alike the same stand at the same places.
  using Name = std::array<std::uint32_t, 6>;
  static constexpr std::uint32_t message = 0xFFFF'FFFFU, batch = 0xFFFF'FFFEU;  ///< of names: the first number
  void named(const Name& name) {
    if (into_ != nullptr) same(names_.try_emplace(name, names_.size()).first->second);
  }
  [[nodiscard]] bool names_say_ways() const { return names_say_ways_; }
  void time(Time& time) { take(&ListedState::times, next_time_, time); }
  void limit(Time& time) { take(&ListedState::limits, next_limit_, time); }
  void sum(std::int64_t& sum) { add(&ListedState::sums, next_sum_, sum); }
  void sum(Int128& sum) { add(&ListedState::large_sums, next_large_sum_, sum); }
  /// What a device holds, where nothing but the results depends on it.
  void memory(MemoryAccount& memory);
  /// Where a stream stands.
  void position(std::vector<Frame>& frames) {
    if (into_ != nullptr) into_->loops.push_back(into_->left.size());
    same(frames.size());
    for (Frame& frame : frames) {
      same(frame.block);
      same(frame.next);
      turn(frame.repeats);
    }
  }

 private:
  void take(std::vector<Time> ListedState::*list, std::size_t& next, Time& time) {
    if (into_ != nullptr) return (into_->*list).push_back(time);
    const std::size_t i = next++;
    const bool moves = (period_->to.*list)[i] - (period_->from.*list)[i] == period_->length();
    if (moves) time += period_->skipped();
  }
  template <class T>
  void add(std::vector<T> ListedState::*list, std::size_t& next, T& sum) {
    if (into_ != nullptr) return (into_->*list).push_back(sum);
    const std::size_t i = next++;
    sum += added(period_->from.*list, period_->to.*list, i) * period_->times;
  }
  void turn(std::uint32_t& repeats) {
    if (into_ != nullptr) return into_->left.push_back(repeats);
    const std::size_t i = next_left_++;
    repeats -= static_cast<std::uint32_t>((period_->from.left[i] - period_->to.left[i]) * period_->times);
  }

  ListedState* into_ = nullptr;
  std::map<Name, std::size_t> names_;
  const Period* period_ = nullptr;
  Time now_;
  bool names_say_ways_ = false;
  std::size_t next_time_ = 0, next_limit_ = 0, next_sum_ = 0, next_large_sum_ = 0, next_left_ = 0, next_memory_ = 0;
};

/// How often what has happened between two moments can follow itself from the later one on; 0: they are not alike, or
/// some loop ends before.
[[nodiscard]] std::int64_t repeats_between(const ListedState& from, const ListedState& to);

}  // namespace tessera::sim
