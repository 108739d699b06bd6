// What points are ranked by: their time, or where all of them make tokens, how many they make a second.
#pragma once

#include <string>
#include <vector>

#include "view.hpp"

namespace tessera::results {

struct Measure {
  std::string name = "time";
  bool is_rate = false;  ///< more is better

  /// Of a row that has a time.
  [[nodiscard]] double of(const View& view, std::size_t row) const;
  [[nodiscard]] std::string text(double value) const;
  [[nodiscard]] bool is_better(double a, double b) const { return is_rate ? a > b : a < b; }
  /// How many times as good the best is: at least 1.
  [[nodiscard]] double to_best(double value, double best) const { return is_rate ? best / value : value / best; }
};

[[nodiscard]] Measure measure_of(const View& view);

/// Rows that have a time, the best first; of equals the first.
[[nodiscard]] std::vector<std::size_t> ranked(const View& view, const Measure& measure);

}  // namespace tessera::results
