// Of parts that are alike some are simulated for all (fold.hpp).
#include <algorithm>

#include "sim/laws/law.hpp"

namespace tessera::sim {
namespace {

// Whether they are alike is found out with the fold (find_fold.hpp).
std::string refuses(const LawCase& made) {
  if (std::string unknown = unknown_to_folds(made.machine, made.program); !unknown.empty()) return unknown;
  const bool any = std::ranges::any_of(made.program.alike, [](const auto& alike) { return alike.parts.size() > 1; });
  return any ? "" : "the program names no parts that are alike";
}

}  // namespace

Folding folding_of(const SimulationOptions& options) {
  return options.fold == Folding::automatic && !options.laws.has(Law::fold) ? Folding::none : options.fold;
}

std::string unknown_to_folds(const machine::Machine& machine, const program::Program& program) {
  if (!program.ways.empty()) return "the program binds ways";
  if (program.memory_packet > 0) return "operators and messages share the memory";
  return other_arbitration(machine.network);
}

LawKind fold_law() {
  return {"fold", "of parts that are alike one for all (simulation.fold)",
          [](const SimulationOptions& options) { return folding_of(options) != Folding::none; }, refuses};
}

}  // namespace tessera::sim
