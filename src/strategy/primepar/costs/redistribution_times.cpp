#include "redistribution_times.hpp"

#include <algorithm>

namespace tessera::strategy::primepar {

std::optional<machine::LinkLoads::Burden>& Burdens::of(std::uint32_t pattern) {
  if (pattern >= known_.size()) known_.resize(std::max(patterns_.size(), 2 * known_.size()));
  return known_[pattern];
}

void RedistributionTimes::times(std::size_t held, Time* found) {
  const std::size_t sizes = redistributions_.needed_sizes();
  redistributions_.visit_patterns(held, [&](std::size_t needed, std::uint32_t number) {
    const std::size_t at = number * sizes + redistributions_.needed_size(needed);
    const Time known = at < known_.size() ? known_[at] : unknown;
    found[needed] = known != unknown ? known : time(held, needed, number);
  });
}

Time RedistributionTimes::time(std::size_t held, std::size_t needed, std::uint32_t number) {
  const std::size_t at = number * redistributions_.needed_sizes() + redistributions_.needed_size(needed);
  if (at >= known_.size()) known_.resize(std::max(at + 1, 2 * known_.size()), unknown);
  const std::int64_t unit = redistributions_.unit(held, needed);
  const machine::LinkLoads::Burden& one = burden(held, needed, redistributions_.pattern(number), unit);
  return known_[at] = burdens_->loads().time(one, element_ * unit);
}

const machine::LinkLoads::Burden& RedistributionTimes::burden(std::size_t held, std::size_t needed,
                                                              std::uint32_t pattern, std::int64_t unit) {
  std::optional<machine::LinkLoads::Burden>& found = burdens_->of(pattern);
  if (found) return *found;
  machine::LinkLoads& loads = burdens_->loads();
  redistributions_.visit(burdens_->patterns().senders(pattern), held, needed,
                         [&](int from, int to, std::int64_t elements) { loads.add(from, to, Bytes{elements / unit}); });
  return found.emplace(loads.burden());
}

}  // namespace tessera::strategy::primepar
