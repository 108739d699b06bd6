// Rounds of loops that are as those before are left out (repeated_rounds.hpp).
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <utility>

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

/// By block: which passes what it calls is that of, directly or not.
using PassesWithin = std::map<program::BlockId, std::set<std::uint32_t>>;

const std::set<std::uint32_t>& passes_within(const program::Program& program, program::BlockId block,
                                             PassesWithin& known) {
  const auto found = known.find(block);
  if (found != known.end()) return found->second;
  std::set<std::uint32_t> passes;
  for (const program::Instruction& instruction : program.blocks[block].code) {
    if (instruction.op != program::Op::call) continue;
    const std::set<std::uint32_t>& inner = passes_within(program, instruction.a, known);
    passes.insert(inner.begin(), inner.end());
    if (instruction.b > 0) passes.insert(instruction.b);
  }
  return known[block] = std::move(passes);
}

/// Whether no pass is called inside itself, so that its micro-batches are counted by one loop at a time, and intervals
/// have room for its number.
bool passes_stay_apart(const program::Program& program) {
  PassesWithin known;
  for (const program::Block& block : program.blocks) {
    for (const program::Instruction& instruction : block.code) {
      if (instruction.op != program::Op::call || instruction.b == 0) continue;
      if (instruction.b > std::numeric_limits<std::uint16_t>::max()) return false;
      if (passes_within(program, instruction.a, known).contains(instruction.b)) return false;
    }
  }
  return true;
}

std::string refuses(const LawCase& made) {
  const SimulationOptions& options = made.options;
  if (!why_not(trains_law(), made).empty()) return "without trains";
  if (made.ranks > 1) return "more than one rank";
  if (options.record_timeline && !passes_stay_apart(made.program))
    return "a timeline is recorded, and passes of micro-batches are parts of themselves";
  if (options.record_memory) return "the memory over time is recorded";
  if (options.traffic_interval > 0) return "the traffic over time is recorded";
  if (options.run.end != never) return "the run ends at a given time";
  return not_listed(made);
}

}  // namespace

LawKind rounds_law() {
  return {"rounds",
          "rounds of loops that are as those before, on one rank and where neither memory nor traffic is recorded over "
          "time",
          [](const SimulationOptions& options) { return options.laws.has(Law::rounds); }, refuses};
}

}  // namespace tessera::sim
