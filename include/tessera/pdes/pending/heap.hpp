// A d-ary heap of keys: the plain pending-event set, and the part of the ladder queue that is being worked off.
#pragma once

#include <algorithm>
#include <vector>

#include "tessera/pdes/pending/key.hpp"

namespace tessera::pdes {

template <std::size_t arity>
class Heap {
 public:
  explicit Heap(const detail::EventPool& events) : before_(events) {}

  [[nodiscard]] bool empty() const { return keys_.empty(); }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }
  [[nodiscard]] Time next_time() const { return keys_.empty() ? never : keys_.front().time; }
  [[nodiscard]] const PendingKey& top() const { return keys_.front(); }
  /// In no particular order, for a set that takes the keys over.
  [[nodiscard]] std::vector<PendingKey>& keys() { return keys_; }

  void push(PendingKey key) {
    std::size_t hole = keys_.size();
    keys_.push_back(key);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / arity;
      if (!before_(key, keys_[parent])) break;
      keys_[hole] = keys_[parent];
      hole = parent;
    }
    keys_[hole] = key;
  }

  PendingKey pop() {
    const PendingKey smallest = keys_.front();
    const PendingKey last = keys_.back();
    keys_.pop_back();
    if (!keys_.empty()) sift_down(last);
    return smallest;
  }

 private:
  void sift_down(PendingKey key) {
    const std::size_t count = keys_.size();
    std::size_t hole = 0;
    for (std::size_t child = 1; child < count; child = hole * arity + 1) {
      const std::size_t end = std::min(child + arity, count);
      std::size_t best = child;
      for (++child; child < end; ++child) {
        if (before_(keys_[child], keys_[best])) best = child;
      }
      if (!before_(keys_[best], key)) break;
      keys_[hole] = keys_[best];
      hole = best;
    }
    keys_[hole] = key;
  }

  KeyOrder before_;
  std::vector<PendingKey> keys_;
};

}  // namespace tessera::pdes
