// Rounds of loops that are as those before are left out (repeated_rounds.hpp).
#include <algorithm>

#include "sim/laws/law.hpp"

namespace tessera::sim {
namespace {

/// Of a program, what is not listed of a moment.
std::string not_listed(const LawCase& made) {
  if (!made.program.kernels.empty()) return "kernels run at transaction level";
  bool any = false;
  for (const program::DeviceProgram& device : made.program.devices) {
    if (made.facts.shares_events(device)) return "several streams of a device wait for one event";
    const auto marks = [&](program::BlockId block) { return made.facts.of(block).marks; };
    if (std::ranges::any_of(device.streams, marks)) return "the program marks times";
    any = any || (!device.streams.empty() && made.facts.of(device.streams.front()).repeats);
  }
  return any ? "" : "the program has no loop";
}

std::string refuses(const LawCase& made) {
  const SimulationOptions& options = made.options;
  if (!why_not(trains_law(), made).empty()) return "without trains";
  if (made.ranks > 1) return "more than one rank";
  if (options.record_timeline) return "a timeline is recorded";
  if (options.record_memory) return "the memory over time is recorded";
  if (options.traffic_interval > 0) return "the traffic over time is recorded";
  if (options.run.end != never) return "the run ends at a given time";
  return not_listed(made);
}

}  // namespace

LawKind rounds_law() {
  return {"rounds", "rounds of loops that are as those before, on one rank and where nothing is recorded on the way",
          [](const SimulationOptions& options) { return options.laws.has(Law::rounds); }, refuses};
}

}  // namespace tessera::sim
