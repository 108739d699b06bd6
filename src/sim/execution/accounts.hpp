// Where a device's time and memory go.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/program/program.hpp"
#include "tessera/results/results.hpp"

namespace tessera::sim {

/// Time of the main stream by activity; together the time of the stream.
struct TimeAccount {
  explicit TimeAccount(std::size_t activities = 0) : by_activity(activities, 0) {}
  std::vector<Time> by_activity;
  void add(program::Activity activity, Time time) { by_activity[static_cast<std::size_t>(activity)] += time; }
};

/// What device memory holds, and held at most.
struct MemoryAccount {
  explicit MemoryAccount(std::size_t categories = 0) : level(categories, 0), category_peak(level), at_peak(level) {}
  std::vector<std::int64_t> level, category_peak, at_peak;  ///< by category
  std::int64_t total = 0;
  std::int64_t peak = 0;
  Time peak_time = 0;  ///< when it was first reached

  void add(std::size_t category, std::int64_t bytes, Time now) {
    level[category] += bytes;
    total += bytes;
    if (level[category] > category_peak[category]) category_peak[category] = level[category];
    if (total > peak) {
      peak = total;
      peak_time = now;
      at_peak = level;
    }
  }
};

/// Collectives of a device, or of several, summed by label, kind, algorithm and group size.
class CollectiveAccount {
 public:
  void add(const CollectiveAccount& other);
  void add(const results::CollectiveRow& key, std::int64_t bytes, Time duration, Time waiting);
  /// Sorted by their key.
  [[nodiscard]] std::vector<results::CollectiveRow> rows() const;
  /// As they are, in the order of their first calls.
  [[nodiscard]] std::vector<results::CollectiveRow>& sums() { return rows_; }
  /// As many times as much, of all.
  void repeat(std::uint32_t times);

 private:
  [[nodiscard]] results::CollectiveRow& row(const results::CollectiveRow& key);

  std::vector<results::CollectiveRow> rows_;
  std::uint32_t latest_ = 0;
};

}  // namespace tessera::sim
