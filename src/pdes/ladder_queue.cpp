#include "tessera/pdes/pending/ladder_queue.hpp"

#include <algorithm>
#include <bit>

namespace tessera::pdes {

namespace {

// Chosen with bench/hold, where everything within a factor of two of these is as fast (docs/engine.md).
constexpr std::size_t keys_per_bucket = 256;  // that spread() aims at
constexpr std::size_t largest_bottom = 1024;  // a larger bucket is spread once more
constexpr std::size_t largest_near = 1024;    // a larger heap is spread
constexpr std::size_t buckets_per_rung =
    1024;  // the ends of all buckets of a rung stay in the first- and second-level caches

/// Where the keys of a bag lie in time.
struct Extent {
  Time low = never;
  Time high = 0;
  double sum = 0;  // of the distances from the first key, which keeps it exact enough at any time
  Time first = 0;
  std::size_t count = 0;

  void add(Time time) {
    if (count++ == 0) first = time;
    low = std::min(low, time);
    high = std::max(high, time);
    sum += static_cast<double>(time - first);
  }
  [[nodiscard]] double mean_distance() const {
    return std::max(0.0, sum / static_cast<double>(count) + static_cast<double>(first - low));
  }
};

}  // namespace

std::size_t detail::KeyBag::count() const {
  const Chunk* chunk = last_chunk();
  if (chunk == nullptr) return 0;
  auto count = static_cast<std::size_t>(end_ - chunk->keys.data());
  for (chunk = chunk->next; chunk != nullptr; chunk = chunk->next) count += chunk->keys.size();
  return count;
}

void detail::ChunkPool::grow() {
  const std::size_t count = std::max<std::size_t>(64, chunks_);
  storage_.push_back(std::make_unique_for_overwrite<KeyBag::Chunk[]>(count));
  chunks_ += count;
  for (std::size_t i = count; i-- > 0;) give_back(&storage_.back()[i]);
}

void LadderQueue::push_near(PendingKey key) {
  near_.push(key);
  // Each spreading handles at least as many keys that came since the last one as it moves others, so the cost stays
  // constant.
  const auto left = static_cast<std::size_t>(tail_ - head_);
  if (near_.size() > largest_near && near_.size() > left) [[unlikely]]
    spill_near();
}

void LadderQueue::spill_near() {
  Extent extent;
  near_.for_each([&](const PendingKey& key) { extent.add(key.time); });
  if (extent.high - extent.low < 2) return;  // one or two times only: nothing to spread
  detail::KeyBag bag;
  near_.for_each([&](const PendingKey& key) { append(bag, key); });
  for (const PendingKey* key = head_; key != tail_; ++key) append(bag, *key);
  near_.clear();
  head_ = tail_;
  spread(bag, bottom_end_, true);
}

bool LadderQueue::refill() {
  while (true) {
    if (depth_ == 0) {
      if (top_.empty()) {
        bottom_end_ = top_start_ = std::numeric_limits<Time>::min();
        return false;
      }
      const std::size_t before = depth_;
      spread(top_, never, false);
      top_start_ = rungs_[before].end;
    }
    Rung& rung = rungs_[depth_ - 1];
    while (rung.next < rung.count && rung.buckets[rung.next].empty()) ++rung.next;
    if (rung.next == rung.count) {
      --depth_;
      continue;
    }
    detail::KeyBag& bucket = rung.buckets[rung.next];
    const Time start = rung.start + (static_cast<Time>(rung.next) << rung.shift);
    const Time end = std::min(rung.end, saturating_add(start, Time{1} << rung.shift));
    if (rung.shift > 0 && bucket.count() > largest_bottom) {
      // What is beyond the new rung, and what comes later for it, stays in this bucket, which is looked at again after
      // it.
      spread(bucket, end, false);
      continue;
    }
    sort_into_bottom(bucket, start, rung.shift);
    bottom_end_ = end;
    ++rung.next;
    return true;
  }
}

// Moves keys of `from` that are before `limit` to a new rung: all of them, or those that are not far beyond the others.
void LadderQueue::spread(detail::KeyBag& from, Time limit, bool all) {
  Extent keys;
  from.for_each([&](const PendingKey& key) { keys.add(key.time); });
  const double mean = keys.mean_distance();
  const auto span = static_cast<std::uint64_t>((all ? limit - 1 : keys.high) - keys.low);
  const auto at_most_span = [&](double time) {  // which may be beyond 64 bits
    return time < static_cast<double>(span) ? static_cast<std::uint64_t>(time) : span;
  };
  const auto covered = all ? span : at_most_span(4 * mean);
  const auto width = at_most_span(mean * keys_per_bucket / static_cast<double>(keys.count));
  unsigned shift = width == 0 ? 0 : static_cast<unsigned>(std::bit_width(width)) - 1;
  while ((covered >> shift) >= buckets_per_rung) ++shift;

  if (rungs_.size() == depth_) rungs_.emplace_back();
  Rung& rung = rungs_[depth_++];
  rung.start = keys.low;
  rung.shift = shift;
  rung.next = 0;
  rung.count = static_cast<std::size_t>(covered >> shift) + 1;
  rung.end = (limit - rung.start) >> shift < static_cast<Time>(rung.count)
                 ? limit
                 : rung.start + (static_cast<Time>(rung.count) << shift);
  bottom_end_ = rung.start;
  if (rung.buckets.size() < rung.count) rung.buckets.resize(rung.count);

  detail::KeyBag source = from;
  from = detail::KeyBag{};
  const PendingKey* stop = source.end();
  for (detail::KeyBag::Chunk* chunk = source.last_chunk(); chunk != nullptr;) {
    for (const PendingKey* key = chunk->keys.data(); key != stop; ++key) {
      append(key->time < rung.end ? rung.buckets[static_cast<std::size_t>((key->time - rung.start) >> shift)] : from,
             *key);
    }
    detail::KeyBag::Chunk* done = chunk;
    chunk = chunk->next;
    if (chunk != nullptr) stop = chunk->keys.data() + chunk->keys.size();
    chunks_.give_back(done);
  }
}

PendingKey* LadderQueue::make_room(std::size_t count) {
  if (bottom_.size() < count + look_ahead + 1) bottom_.resize(2 * count + look_ahead + 1);
  return bottom_.data();
}

// A counting sort into about as many bins as keys, by time within the bucket, leaves little to do for the insertion
// sort.
void LadderQueue::sort_into_bottom(detail::KeyBag& bag, Time start, unsigned shift) {
  const std::size_t count = bag.count();
  PendingKey* keys = make_room(count);
  const unsigned bin_bits = std::min(shift, static_cast<unsigned>(std::bit_width(count)));
  const unsigned bin_shift = shift - bin_bits;
  const std::size_t bins = std::size_t{1} << bin_bits;
  bins_.assign(bins + 1, 0);
  const auto bin_of = [&](const PendingKey& key) { return static_cast<std::size_t>((key.time - start) >> bin_shift); };
  bag.for_each([&](const PendingKey& key) { ++bins_[bin_of(key) + 1]; });
  for (std::size_t bin = 1; bin < bins; ++bin) bins_[bin] += bins_[bin - 1];
  bag.for_each([&](const PendingKey& key) { keys[bins_[bin_of(key)]++] = key; });
  for (detail::KeyBag::Chunk* chunk = bag.last_chunk(); chunk != nullptr;) {
    detail::KeyBag::Chunk* done = chunk;
    chunk = chunk->next;
    chunks_.give_back(done);
  }
  bag = detail::KeyBag{};
  insertion_sort(keys, keys + count);
  std::fill_n(keys + count, look_ahead + 1, keys[count - 1]);  // so that looking ahead needs no check
  head_ = keys;
  tail_ = keys + count;
  new_batch_ = true;
  for (std::size_t i = 0; i < event_distance; ++i) __builtin_prefetch(&(*events_)[head_[i].slot]);
}

// By time only; the order among equal times is made afterwards, since comparing them reads the events.
void LadderQueue::insertion_sort(PendingKey* first, PendingKey* last) {
  bool equal_times = false;
  for (PendingKey* next = first + 1; next < last; ++next) {
    const PendingKey key = *next;
    PendingKey* hole = next;
    for (; hole != first && key.time < hole[-1].time; --hole) *hole = hole[-1];
    *hole = key;
    equal_times |= hole != first && hole[-1].time == key.time;
  }
  if (equal_times) order_equal_times(first, last);
}

void LadderQueue::order_equal_times(PendingKey* first, PendingKey* last) {
  while (first != last) {
    PendingKey* end = first + 1;
    while (end != last && end->time == first->time) ++end;
    if (end - first > 1) std::sort(first, end, before_);
    first = end;
  }
}

}  // namespace tessera::pdes
