// A calendar queue (Brown: CACM 31(10), 1988): days of equal width, the same day of all years in one sorted list.
#pragma once

#include <vector>

#include "tessera/pdes/pending/key.hpp"

namespace tessera::pdes {

class CalendarQueue {
 public:
  explicit CalendarQueue(const detail::EventPool& events);

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

  KeyOrder before_;
  std::vector<Node> days_;
  std::vector<Entry> entries_;
  std::vector<Node> free_;
  unsigned shift_ = 0;  // days are 2^shift wide
  std::size_t size_ = 0;
  Time day_ = 0;  // since time 0; where the search for the next key goes on
};

}  // namespace tessera::pdes
