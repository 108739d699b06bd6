// What a plan leaves of a device's memory.
#pragma once

#include <string>

#include "tessera/experiment/estimate.hpp"

namespace tessera::app {

/// "18.7 GB, 22.5 % of 83.1 GB (85.0 GB less a reserve of 1.87 GB)", of the fullest device.
[[nodiscard]] std::string spare_text(const experiment::Experiment& experiment, const experiment::Estimate& estimate);

/// Why a plan that fits may not fit in reality; empty where it leaves 2 % or more.
[[nodiscard]] std::string spare_warning(const experiment::Experiment& experiment, const experiment::Estimate& estimate);

}  // namespace tessera::app
