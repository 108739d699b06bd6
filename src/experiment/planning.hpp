// The strategy's part of building an experiment.
#pragma once

#include <string>

#include "tessera/experiment/experiment.hpp"

namespace tessera::experiment {

/// An error of several lines is as many problems.
void report_each_line(const config::Location& where, const std::string& lines, config::Diagnostics& diagnostics);

/// Checks the [strategy] table of a resolved experiment whose other parts are whole, and writes the program where
/// nothing is open.
void check_strategy(const config::Table& resolved, Experiment& experiment, bool is_searched_next,
                    config::Diagnostics& diagnostics);

}  // namespace tessera::experiment
