#include "tessera/program/steady.hpp"

#include <algorithm>
#include <vector>

namespace tessera::program {
namespace {

/// Whether each difference from the `from`-th on is that of `period` repeats later.
bool recurs(std::span<const Time> ends, std::size_t from, std::size_t period) {
  for (std::size_t i = from + period; i < ends.size(); ++i) {
    if (ends[i] - ends[i - 1] != ends[i - period] - ends[i - period - 1]) return false;
  }
  return true;
}

Time rounded_mean(Time sum, std::size_t count) {
  const auto by = static_cast<Time>(count);
  return sum / by + (sum % by * 2 >= by ? 1 : 0);
}

Time median_difference(std::span<const Time> ends, std::size_t from) {
  std::vector<Time> differences;
  for (std::size_t i = from; i < ends.size(); ++i) differences.push_back(ends[i] - ends[i - 1]);
  const auto middle = differences.begin() + static_cast<std::ptrdiff_t>(differences.size() / 2);
  std::nth_element(differences.begin(), middle, differences.end());
  return *middle;
}

}  // namespace

Time steady_interval(std::span<const Time> ends) {
  if (ends.size() < 2) return 0;
  const std::size_t from = (ends.size() + 1) / 2;
  const std::size_t differences = (ends.size() + 3) / 4;
  const std::span<const Time> middle = ends.first(std::min(ends.size(), from + differences));
  for (std::size_t period = 1; 2 * period <= differences; ++period) {
    if (recurs(middle, from, period)) return rounded_mean(middle.back() - middle[middle.size() - 1 - period], period);
  }
  return median_difference(middle, from);
}

}  // namespace tessera::program
