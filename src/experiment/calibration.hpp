// [machine.calibration]: what a machine does beyond its data sheet, as defaults of the experiment's own tables.
#pragma once

#include <string>

#include "tessera/base/config.hpp"

namespace tessera::experiment {

/// Gives [cost] and [collectives] the keys of [machine.calibration.cost] and [machine.calibration.collectives] that
/// they do not have. Another cost model than the calibration's takes none of its keys.
void apply_calibration(config::Table& root);
/// What nobody reads because it is for another cost model is checked all the same.
void check_calibration(const config::Table& root, config::Diagnostics& diagnostics);

}  // namespace tessera::experiment
