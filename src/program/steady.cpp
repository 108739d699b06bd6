#include "tessera/program/steady.hpp"

#include <cstddef>

namespace tessera::program {
namespace {

/// Whether each difference from the `from`-th on is that of `period` repeats later.
bool recurs(const std::vector<Time>& ends, std::size_t from, std::size_t period) {
  for (std::size_t i = from + period; i < ends.size(); ++i) {
    if (ends[i] - ends[i - 1] != ends[i - period] - ends[i - period - 1]) return false;
  }
  return true;
}

Time mean_of_last(const std::vector<Time>& ends, std::size_t differences) {
  const Time sum = ends.back() - ends[ends.size() - 1 - differences];
  const auto count = static_cast<Time>(differences);
  return sum / count + (sum % count * 2 >= count ? 1 : 0);
}

}  // namespace

Time steady_interval(const std::vector<Time>& ends) {
  if (ends.size() < 2) return 0;
  const std::size_t from = (ends.size() + 1) / 2;  // the later half of the differences begins here
  const std::size_t differences = ends.size() - from;
  for (std::size_t period = 1; 2 * period <= differences; ++period) {
    if (recurs(ends, from, period)) return mean_of_last(ends, period);
  }
  return mean_of_last(ends, differences);
}

}  // namespace tessera::program
