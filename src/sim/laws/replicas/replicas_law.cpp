// Of replicas that are alike some are simulated for all (fold.hpp).
#include "sim/laws/law.hpp"

namespace tessera::sim {
namespace {

// Whether they are alike is found out with the fold (find_fold.hpp).
std::string refuses(const LawCase& made) {
  if (made.program.replicas.size() == 1) return "the model has one replica";
  return other_arbitration(made.machine.network);
}

}  // namespace

LawKind replicas_law() {
  return {"replicas", "of replicas of the model that are alike one for all (simulation.fold)",
          [](const SimulationOptions& options) { return options.fold == Folding::replicas; }, refuses};
}

}  // namespace tessera::sim
