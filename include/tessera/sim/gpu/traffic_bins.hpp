// What a GPU's memory moves over time, by class (T3, figure 17).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "tessera/sim/memory/request.hpp"

namespace tessera::sim {

class TrafficBins {
 public:
  using Bin = std::array<std::int64_t, traffic_class_count>;  ///< B

  /// 0: nothing is recorded.
  explicit TrafficBins(Time interval) : interval_(interval) {}

  void add(const MemoryRequest& request, Time at) {
    if (interval_ == 0) return;
    const auto index = static_cast<std::size_t>(at / interval_);
    if (index >= bins_.size()) bins_.resize(index + 1);
    bins_[index][static_cast<std::size_t>(request.traffic)] += request.bytes;
  }

  [[nodiscard]] Time interval() const { return interval_; }
  [[nodiscard]] const std::vector<Bin>& bins() const { return bins_; }

 private:
  Time interval_;
  std::vector<Bin> bins_;
};

}  // namespace tessera::sim
