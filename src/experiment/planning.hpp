// The strategy's part of building an experiment.
#pragma once

#include <string>
#include <vector>

#include "tessera/experiment/experiment.hpp"

namespace tessera::experiment {

/// An error of several lines is as many problems.
void report_each_line(const config::Location& where, const std::string& lines, config::Diagnostics& diagnostics);

/// Checks the [strategy] table of a resolved experiment whose other parts are whole, and writes the program where
/// nothing is open.
void check_strategy(const config::Table& resolved, Experiment& experiment, bool is_searched_next,
                    config::Diagnostics& diagnostics);

/// The strategy's own, for results: those of its search, then those of its plan.
[[nodiscard]] std::vector<DataTable> tables_of(const Experiment& experiment);

}  // namespace tessera::experiment
