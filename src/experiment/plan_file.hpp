// Plan files: a [strategy] table in which nothing is left to search, and what it was made for.
#pragma once

#include <memory>
#include <string>

#include "tessera/base/config.hpp"
#include "tessera/strategy/strategy.hpp"

namespace tessera::experiment {

/// The file's tables; null after an error.
[[nodiscard]] std::shared_ptr<config::Table> read_plan(const std::string& path, config::Diagnostics& diagnostics);
/// Puts its strategy in the place of the experiment's.
void apply_plan(config::Table& root, const config::Table& plan);
/// Errors where the strategy, with the plan in its place and settings over it, leaves something open.
void check_plan_is_closed(const config::Table& resolved, const strategy::Strategies& strategies,
                          config::Diagnostics& diagnostics);
/// An error where the plan was made for a model with other layers than this resolved experiment's, or another graph; a
/// warning that names the keys, where other things differ.
void check_plan_fits(const config::Table& resolved, const config::Table& plan, config::Diagnostics& diagnostics);

}  // namespace tessera::experiment
