// Collectives that go round rings have two events a member, as long as the ring has its links for itself.
#include "sim/laws/law.hpp"

namespace tessera::sim {
namespace {

std::string refuses(const LawCase& made) {
  if (made.program.memory_packet > 0) return "operators and messages share the memory";
  return why_not(trains_law(), made).empty() ? "" : "without trains";
}

}  // namespace

LawKind rings_law() {
  return {"rings", "collectives that go round rings on links of their own, by recurrences",
          [](const SimulationOptions& options) { return options.laws.has(Law::rings); }, refuses};
}

}  // namespace tessera::sim
