// What a ladder queue holds of the nearest future: keys that were pushed into the time span that is being worked off.
#pragma once

#include <vector>

#include "tessera/pdes/pending/heap.hpp"

namespace tessera::pdes {

/// Models in lockstep push most events behind all others of the near future, since delays repeat. Such keys go to the
/// end of a sorted run, which takes no more than a few comparisons; the others go to a heap.
class NearQueue {
 public:
  explicit NearQueue(const detail::EventPool& events) : before_(events), heap_(events) {}

  [[nodiscard]] bool empty() const { return head_ == run_.size() && heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return run_.size() - head_ + heap_.size(); }
  /// Must not be empty, nor for pop().
  [[nodiscard]] const PendingKey& top() const { return run_first() ? run_[head_] : heap_.top(); }

  void push(PendingKey key) {
    if (head_ == run_.size() || !before_(key, run_.back())) return run_.push_back(key);
    const std::size_t lowest = run_.size() - head_ > reach ? run_.size() - reach : head_;
    const auto first = run_.begin() + static_cast<std::ptrdiff_t>(lowest);
    if (lowest > head_ && before_(key, *first)) return heap_.push(key);
    run_.insert(std::upper_bound(first, run_.end() - 1, key, before_), key);
  }

  PendingKey pop() {
    if (!run_first()) return heap_.pop();
    const PendingKey key = run_[head_++];
    if (head_ == run_.size()) {
      run_.clear();
      head_ = 0;
    } else if (head_ == most_spent) {
      run_.erase(run_.begin(), run_.begin() + most_spent);
      head_ = 0;
    }
    return key;
  }

  template <class Visit>
  void for_each(Visit&& visit) {
    for (std::size_t i = head_; i < run_.size(); ++i) visit(run_[i]);
    for (const PendingKey& key : heap_.keys()) visit(key);
  }
  void clear() {
    run_.clear();
    head_ = 0;
    heap_.keys().clear();
  }

 private:
  static constexpr std::size_t reach = 64;            // keys at the end of the run among which one is inserted
  static constexpr std::ptrdiff_t most_spent = 1024;  // keys in front of the run that were taken; then it moves

  [[nodiscard]] bool run_first() const {
    return head_ != run_.size() && (heap_.empty() || before_(run_[head_], heap_.top()));
  }

  KeyOrder before_;
  std::vector<PendingKey> run_;  // sorted, from head_ on
  std::size_t head_ = 0;
  Heap<4> heap_;
};

}  // namespace tessera::pdes
