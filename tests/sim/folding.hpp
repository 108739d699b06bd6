// What tests of folds record of a run.
#pragma once

#include "tessera/sim/simulate.hpp"

namespace tessera::test {

inline sim::SimulationOptions all_recorded(sim::Folding fold) {
  sim::SimulationOptions options;
  options.fold = fold;
  options.record_timeline = options.record_memory = true;
  options.allow_oversubscription = true;
  return options;
}

}  // namespace tessera::test
