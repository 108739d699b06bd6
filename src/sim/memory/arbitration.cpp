#include "tessera/sim/memory/arbitration.hpp"

#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {

const std::vector<ArbitrationKind>& arbitration_kinds() {
  static const std::vector<ArbitrationKind> kinds = {
      {"round-robin", "the streams take turns; the other one when one is empty", make_round_robin},
      {"compute-first", "communication only when no compute request waits", make_compute_first},
      {"mca",
       "compute first; communication only below a threshold of occupancy, "
       "unless it starves",
       make_mca}};
  return kinds;
}

ArbitrationPointer make_arbitration(const ArbitrationSpec& spec) {
  if (spec.starvation_limit < 0) throw InputError("the starvation limit of the memory arbitration is negative");
  for (const ArbitrationKind& kind : arbitration_kinds()) {
    if (kind.name == spec.policy) return kind.make(spec);
  }
  throw InputError(config::unknown("memory arbitration", spec.policy, config::names_of(arbitration_kinds())));
}

std::uint32_t threshold_for(const OccupancySum& observed, const IntensityLevels& levels) {
  std::size_t level = 0;
  // Compared as products: a mean is never rounded.
  while (
      level < levels.from.size() &&
      (observed.duration == 0 || observed.burst_time < static_cast<Int128>(levels.from[level]) * observed.duration)) {
    ++level;
  }
  return levels.thresholds[level];
}

}  // namespace tessera::sim
