// The yardstick: a d-ary heap that holds the 48-byte events themselves, as a simple engine would.
#pragma once

#include <algorithm>
#include <vector>

#include "tessera/pdes/event.hpp"

namespace tessera::bench {

template <std::size_t arity>
class RecordHeap {
 public:
  void push(const pdes::Event& event) {
    std::size_t hole = events_.size();
    events_.push_back(event);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / arity;
      if (!pdes::before(event, events_[parent])) break;
      events_[hole] = events_[parent];
      hole = parent;
    }
    events_[hole] = event;
  }

  pdes::Event pop() {
    const pdes::Event smallest = events_.front();
    const pdes::Event last = events_.back();
    events_.pop_back();
    if (!events_.empty()) sift_down(last);
    return smallest;
  }

 private:
  void sift_down(const pdes::Event& event) {
    const std::size_t count = events_.size();
    std::size_t hole = 0;
    for (std::size_t child = 1; child < count; child = hole * arity + 1) {
      const std::size_t end = std::min(child + arity, count);
      std::size_t best = child;
      for (++child; child < end; ++child) {
        if (pdes::before(events_[child], events_[best])) best = child;
      }
      if (!pdes::before(events_[best], event)) break;
      events_[hole] = events_[best];
      hole = best;
    }
    events_[hole] = event;
  }

  std::vector<pdes::Event> events_;
};

}  // namespace tessera::bench
