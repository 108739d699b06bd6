// Machines that a sweep generates: the keys of a machine template stand in one table of [sweep], those with several
// values as axes.
#pragma once

#include "bases.hpp"

namespace tessera::experiment::sweep {

/// [sweep] generate = "wafer-template" with [sweep.wafer-template] becomes the experiment's [machine.template] and axes
/// in front of the sweep's own. A sweep that generates nothing is left alone.
void generate(SweepFile& file, config::Diagnostics& diagnostics);

}  // namespace tessera::experiment::sweep
