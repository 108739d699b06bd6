// What a search that proves its plan says of it.
#pragma once

#include <string>

#include "tessera/experiment/experiment.hpp"

namespace tessera::app {

/// How many candidates there were, what became of them, what is proven, and the best of them; empty where nothing was
/// searched in that way. An empty line is behind it.
[[nodiscard]] std::string search_report(const experiment::Experiment& experiment);

/// How many choices the search left out, which a plan file says too; empty: none were searched that way.
[[nodiscard]] std::string struck_out_report(const experiment::Experiment& experiment);

}  // namespace tessera::app
