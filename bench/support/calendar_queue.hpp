// A calendar queue (Brown: CACM 31(10), 1988): days of equal width, the same day of all years in one sorted list.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "tessera/pdes/pending/key.hpp"

namespace tessera::bench {

using pdes::PendingKey;

class CalendarQueue {
 public:
  explicit CalendarQueue(const pdes::detail::EventPool& events);

  [[nodiscard]] std::size_t size() const { return size_; }
  void push(PendingKey key);
  [[nodiscard]] Time next_time();
  /// next_time() must have been called since the last push or pop, and not have been `never`.
  PendingKey pop();

 private:
  using Node = std::uint32_t;
  static constexpr Node none = 0xFFFF'FFFFU;
  struct Entry {
    PendingKey key;
    Node next = none;
  };

  [[nodiscard]] Time day_of(Time time) const { return time >> shift_; }
  [[nodiscard]] Node& list_of(Time day) { return days_[static_cast<std::size_t>(day) & (days_.size() - 1)]; }
  void insert(Node node);
  void resize(std::size_t days);
  [[nodiscard]] unsigned estimate_shift();

  pdes::KeyOrder before_;
  std::vector<Node> days_;
  std::vector<Entry> entries_;
  std::vector<Node> free_;
  unsigned shift_ = 0;  // days are 2^shift wide
  std::size_t size_ = 0;
  Time day_ = 0;  // since time 0; where the search for the next key goes on
};

inline CalendarQueue::CalendarQueue(const pdes::detail::EventPool& events) : before_(events), days_(2, none) {}

inline void CalendarQueue::push(PendingKey key) {
  Node node = 0;
  if (free_.empty()) {
    node = static_cast<Node>(entries_.size());
    entries_.push_back({key, none});
  } else {
    node = free_.back();
    free_.pop_back();
    entries_[node].key = key;
  }
  insert(node);
  if (++size_ > 2 * days_.size()) resize(2 * days_.size());
}

inline void CalendarQueue::insert(Node node) {
  const PendingKey& key = entries_[node].key;
  Node* at = &list_of(day_of(key.time));
  while (*at != none && before_(entries_[*at].key, key)) at = &entries_[*at].next;
  entries_[node].next = *at;
  *at = node;
  day_ = std::min(day_, day_of(key.time));
}

inline Time CalendarQueue::next_time() {
  if (size_ == 0) return never;
  for (std::size_t looked = 0; looked < days_.size(); ++looked, ++day_) {
    const Node first = list_of(day_);
    if (first != none && day_of(entries_[first].key.time) == day_) return entries_[first].key.time;
  }
  // Nothing this year: go to the year of the earliest key.
  Node earliest = none;
  for (const Node first : days_) {
    if (first != none && (earliest == none || before_(entries_[first].key, entries_[earliest].key))) earliest = first;
  }
  day_ = day_of(entries_[earliest].key.time);
  return entries_[earliest].key.time;
}

inline PendingKey CalendarQueue::pop() {
  const Node node = list_of(day_);
  list_of(day_) = entries_[node].next;
  free_.push_back(node);
  const PendingKey key = entries_[node].key;
  if (--size_ < days_.size() / 2 && days_.size() > 2) resize(days_.size() / 2);
  return key;
}

// Days three times as wide as the mean distance of the events that come next (Brown's rule), from a sample of a few of
// them.
inline unsigned CalendarQueue::estimate_shift() {
  std::vector<Time> sample;
  for (const Entry& entry : entries_) sample.push_back(entry.key.time);
  const std::size_t next = std::min<std::size_t>(sample.size(), 64);
  std::nth_element(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(next - 1), sample.end());
  const auto [low, high] = std::minmax_element(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(next));
  const Time width = saturating_times(3, *high - *low) / static_cast<Time>(next);
  return width <= 1 ? 0 : static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(width)));
}

inline void CalendarQueue::resize(std::size_t days) {
  std::vector<Node> all;
  all.reserve(size_);
  for (const Node first : days_) {
    for (Node node = first; node != none; node = entries_[node].next) all.push_back(node);
  }
  Time earliest = never;
  for (const Node node : all) earliest = std::min(earliest, entries_[node].key.time);
  shift_ = estimate_shift();
  days_.assign(days, none);
  day_ = earliest == never ? 0 : day_of(earliest);
  for (const Node node : all) insert(node);
}

}  // namespace tessera::bench
