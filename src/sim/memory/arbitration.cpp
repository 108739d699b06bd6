#include "tessera/sim/memory/arbitration.hpp"

#include <fmt/core.h>

#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

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

std::vector<std::string> arbitration_names() {
  std::vector<std::string> names;
  for (const ArbitrationKind& kind : arbitration_kinds()) names.push_back(kind.name);
  return names;
}

ArbitrationPointer make_arbitration(const ArbitrationSpec& spec) {
  if (spec.starvation_limit < 0) throw InputError("the starvation limit of the memory arbitration is negative");
  for (const ArbitrationKind& kind : arbitration_kinds()) {
    if (kind.name == spec.policy) return kind.make(spec);
  }
  const std::vector<std::string> names = arbitration_names();
  const std::string near = config::did_you_mean(spec.policy, names);
  throw InputError(fmt::format("no memory arbitration \"{}\"{}; choices: {}", spec.policy,
                               near.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", near), joined(names)));
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
