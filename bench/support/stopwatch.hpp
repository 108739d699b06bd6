// Wall and processor time since construction. On a shared machine the latter is the steadier one.
#pragma once

#include <chrono>
#include <ctime>

namespace tessera::bench {

class Stopwatch {
 public:
  [[nodiscard]] double wall_seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count();
  }
  /// Of the whole process.
  [[nodiscard]] double cpu_seconds() const { return static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC; }

 private:
  std::chrono::steady_clock::time_point wall_ = std::chrono::steady_clock::now();
  std::clock_t cpu_ = std::clock();
};

}  // namespace tessera::bench
