// What [workload] says, whatever the strategy does with it.
#pragma once

#include "tessera/experiment/experiment.hpp"

namespace tessera::experiment {

/// Refuses what the strategy would pass over and what is not modelled, at the place of its key. The experiment has all
/// parts but its plan.
void check_workload(const config::Table& root, const Experiment& experiment, config::Diagnostics& diagnostics);

}  // namespace tessera::experiment
