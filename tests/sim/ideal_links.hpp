// What surrounds GPUs in their tests, without the rest of the simulator: calls at given times, and links that nobody
// shares.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "sim/network/rate.hpp"

namespace tessera::test {

/// Those of one time come in the order in which they were asked for.
class Calls {
 public:
  [[nodiscard]] Time now() const { return now_; }
  void at(Time time, std::function<void()> call) { calls_.emplace(time, std::move(call)); }
  /// Until nothing is left to do.
  void run() {
    while (!calls_.empty()) {
      const auto next = calls_.extract(calls_.begin());
      now_ = next.key();
      next.mapped()();
    }
  }

 private:
  std::multimap<Time, std::function<void()>> calls_;
  Time now_ = 0;
};

/// Messages leave one after the other, at 75 GB/s, and arrive `latency` later.
class IdealLink {
 public:
  static constexpr Time latency = 500 * nanosecond;

  /// When the last byte has left.
  [[nodiscard]] Time leaves(Time now, std::int64_t bytes) {
    if (free_ < now) {
      busy_since_ = now;
      busy_bytes_ = 0;
    }
    busy_bytes_ += bytes;
    free_ = busy_since_ + rate_.up(busy_bytes_);
    return free_;
  }

 private:
  sim::Rate rate_{75'000'000'000};
  Time free_ = -1;
  Time busy_since_ = 0;
  std::int64_t busy_bytes_ = 0;
};

}  // namespace tessera::test
