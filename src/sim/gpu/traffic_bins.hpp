// What a GPU's memory moves over time, by class (T3, figure 17).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <vector>

#include "tessera/sim/memory/request.hpp"

namespace tessera::sim {

/// Only intervals in which something moves are kept, so that neither short intervals nor long runs take memory by
/// themselves: at most twice what is distinct.
class TrafficBins {
 public:
  struct Bin {
    std::int64_t interval = 0;  ///< its number, from time zero
    std::int64_t bytes = 0;
    std::uint16_t traffic = 0;  ///< class
  };

  /// 0: nothing is recorded.
  explicit TrafficBins(Time interval) : interval_(interval) { latest_.fill(none); }

  void add(const MemoryRequest& request, Time at) {
    if (interval_ == 0) return;
    const std::int64_t interval = at / interval_;
    const auto traffic = static_cast<std::size_t>(request.traffic);
    std::size_t& latest = latest_[traffic];
    if (latest == none || bins_[latest].interval != interval) {
      if (bins_.size() >= room_) merge();
      latest = bins_.size();
      bins_.push_back({interval, 0, static_cast<std::uint16_t>(traffic)});
    }
    bins_[latest].bytes += request.bytes;
  }

  [[nodiscard]] Time interval() const { return interval_; }
  /// In order of interval and class, each once.
  [[nodiscard]] std::vector<Bin> bins() const {
    std::vector<Bin> sorted = bins_;
    merge(sorted);
    return sorted;
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  /// Requests are served out of order by a little, so an interval may have come more than once.
  static void merge(std::vector<Bin>& bins) {
    std::sort(bins.begin(), bins.end(), [](const Bin& a, const Bin& b) {
      return std::tie(a.interval, a.traffic) < std::tie(b.interval, b.traffic);
    });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < bins.size(); ++i) {
      Bin& last = bins[kept == 0 ? 0 : kept - 1];
      if (kept > 0 && last.interval == bins[i].interval && last.traffic == bins[i].traffic) {
        last.bytes += bins[i].bytes;
      } else {
        bins[kept++] = bins[i];
      }
    }
    bins.resize(kept);
  }
  void merge() {
    merge(bins_);
    room_ = std::max<std::size_t>(1024, 2 * bins_.size());
    latest_.fill(none);
  }

  Time interval_;
  std::vector<Bin> bins_;
  std::size_t room_ = 1024;
  std::array<std::size_t, traffic_class_count> latest_{};  // in bins_, by class
};

}  // namespace tessera::sim
