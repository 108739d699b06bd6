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

/// Of a [machine] table, what its calibration holds: "kernels" where it has rates of products, "links" where it has
/// what the communication library reaches over links, "power" where it has a limit; "no" where it has none of them.
[[nodiscard]] std::string calibrated_parts(const config::Table& machine);

}  // namespace tessera::experiment
