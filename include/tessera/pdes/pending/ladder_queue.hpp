// The engine's pending-event set: a ladder queue (Tang, Goh, Thng: ACM TOMACS 15(3), 2005). Far events lie unsorted;
// they are spread over ever finer buckets as their time comes near, and only the few that are next are sorted.
//
//   top      everything from `top_start_` on, unsorted
//   rungs    each a row of buckets of equal width; the deepest, finest one comes first in time
//   bottom   one bucket, sorted, being worked off
//   near     what was pushed into the time span of the bottom since: a sorted run and a small heap
//
// push() and pop() take constant time on average, whatever the number of pending events; buckets are touched in their
// order, so most accesses hit the caches. Differences to the paper: a heap beside the bottom (inserting into a long
// sorted list is quadratic when thousands of events share one time), bucket widths from the mean distance of what is
// spread (a long tail does not widen them), chunks instead of linked events, power-of-two widths.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "tessera/pdes/pending/near_queue.hpp"

namespace tessera::pdes {

namespace detail {

/// Keys in no order, in chunks: appending touches one cache line.
class KeyBag {
 public:
  static constexpr std::size_t chunk_bytes = 512;

  struct alignas(chunk_bytes) Chunk {
    Chunk* next;
    std::uint64_t unused;
    std::array<PendingKey, chunk_bytes / sizeof(PendingKey) - 1> keys;
  };
  static_assert(sizeof(Chunk) == chunk_bytes);

  [[nodiscard]] bool empty() const { return end_ == nullptr; }
  [[nodiscard]] bool needs_chunk() const { return (reinterpret_cast<std::uintptr_t>(end_) & (chunk_bytes - 1)) == 0; }
  void add_chunk(Chunk* chunk) {
    chunk->next = last_chunk();
    end_ = chunk->keys.data();
  }
  /// needs_chunk() must be false.
  void append(PendingKey key) { *end_++ = key; }

  /// The chunk that is filled now; the others follow by `next` and are full.
  [[nodiscard]] Chunk* last_chunk() const {
    if (end_ == nullptr) return nullptr;
    return reinterpret_cast<Chunk*>((reinterpret_cast<std::uintptr_t>(end_) - 1) & ~(chunk_bytes - 1));
  }
  [[nodiscard]] const PendingKey* end() const { return end_; }

  /// Calls visit(key) for each key.
  template <class Visit>
  void for_each(Visit&& visit) const {
    const PendingKey* stop = end_;
    for (Chunk* chunk = last_chunk(); chunk != nullptr; chunk = chunk->next) {
      for (const PendingKey* key = chunk->keys.data(); key != stop; ++key) visit(*key);
      if (chunk->next != nullptr) stop = chunk->next->keys.data() + chunk->next->keys.size();
    }
  }
  [[nodiscard]] std::size_t count() const;

 private:
  PendingKey* end_ = nullptr;  // a multiple of chunk_bytes: the last chunk is full, or there is none
};

/// Chunks are taken and given back, never freed before the end.
class ChunkPool {
 public:
  [[nodiscard]] KeyBag::Chunk* take() {
    if (free_ == nullptr) [[unlikely]]
      grow();
    KeyBag::Chunk* chunk = free_;
    free_ = chunk->next;
    return chunk;
  }
  void give_back(KeyBag::Chunk* chunk) {
    chunk->next = free_;
    free_ = chunk;
  }

 private:
  void grow();

  KeyBag::Chunk* free_ = nullptr;
  std::size_t chunks_ = 0;
  std::vector<std::unique_ptr<KeyBag::Chunk[]>> storage_;
};

}  // namespace detail

class LadderQueue {
 public:
  explicit LadderQueue(const detail::EventPool& events) : events_(&events), before_(events), near_(events) {}

  [[nodiscard]] std::size_t size() const { return size_; }

  void push(PendingKey key) {
    ++size_;
    if (key.time >= top_start_) return append(top_, key);
    if (key.time < bottom_end_) [[unlikely]]
      return push_near(key);
    Rung* rung = &rungs_[depth_ - 1];
    while (key.time >= rung->end) --rung;
    append(rung->buckets[static_cast<std::size_t>((key.time - rung->start) >> rung->shift)], key);
  }

  [[nodiscard]] Time next_time() {
    if (near_.empty()) [[likely]] {
      if (head_ == tail_ && !refill()) [[unlikely]]
        return never;
      return head_->time;
    }
    return head_ == tail_ ? near_.top().time : std::min(head_->time, near_.top().time);
  }

  /// next_time() must have been called since the last push or pop, and not have been `never`.
  PendingKey pop() {
    --size_;
    if (!near_.empty()) [[unlikely]] {
      if (head_ == tail_ || before_(near_.top(), *head_)) return near_.pop();
    }
    const PendingKey key = *head_++;
    __builtin_prefetch(&(*events_)[head_[event_distance].slot]);
    return key;
  }

  /// The key that comes `distance` <= look_ahead pops after the one popped last, as far as that is known by now; for
  /// prefetching.
  [[nodiscard]] const PendingKey& ahead(std::size_t distance) const { return head_[distance]; }
  static constexpr std::size_t look_ahead = 16;
  /// True once for each freshly sorted batch: nothing of it was seen ahead before.
  [[nodiscard]] bool new_batch() { return std::exchange(new_batch_, false); }

 private:
  static constexpr std::size_t event_distance = 8;

  struct Rung {
    Time start = 0;
    Time end = 0;          // exclusive; never later than the end of the bucket that was spread over this rung
    unsigned shift = 0;    // buckets are 2^shift wide
    std::size_t next = 0;  // the first bucket that was not worked off
    std::size_t count = 0;
    std::vector<detail::KeyBag> buckets;
  };

  void append(detail::KeyBag& bag, PendingKey key) {
    if (bag.needs_chunk()) [[unlikely]]
      bag.add_chunk(chunks_.take());
    bag.append(key);
  }
  void push_near(PendingKey key);
  void spill_near();
  bool refill();
  void spread(detail::KeyBag& from, Time limit, bool all);
  void sort_into_bottom(detail::KeyBag& bag, Time start, unsigned shift);
  void insertion_sort(PendingKey* first, PendingKey* last);
  void order_equal_times(PendingKey* first, PendingKey* last);
  PendingKey* make_room(std::size_t count);

  const detail::EventPool* events_;
  KeyOrder before_;
  std::size_t size_ = 0;
  Time bottom_end_ = std::numeric_limits<Time>::min();
  Time top_start_ = std::numeric_limits<Time>::min();
  PendingKey* head_ = nullptr;
  PendingKey* tail_ = nullptr;
  bool new_batch_ = false;
  std::size_t depth_ = 0;
  std::vector<Rung> rungs_;
  detail::KeyBag top_;
  NearQueue near_;
  detail::ChunkPool chunks_;
  std::vector<PendingKey> bottom_;
  std::vector<std::uint32_t> bins_;
};

}  // namespace tessera::pdes
