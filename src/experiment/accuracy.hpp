// How far measured jobs of a software stack were from what is simulated of them.
#pragma once

#include <string>
#include <vector>

#include "tessera/experiment/experiment.hpp"
#include "tree.hpp"

namespace tessera::experiment {

/// Gives a root the [[measured]] jobs of a recipe, by its file: of measured/accuracy.toml beside the folder that it
/// stands in, so a recipe of one's own has none.
void add_measured_jobs(config::Table& root, const std::filesystem::path& recipe, InputFiles& files,
                       config::Diagnostics& diagnostics);

/// What to expect of a calibrated experiment: "jobs of this kind were within 7.2 % of 18 measured, 2.3 % in the mean",
/// or that there are none of its stack (a recipe) or kind (device, with experts or without, training in 16 bits).
[[nodiscard]] std::string accuracy_text(const std::vector<MeasuredJobs>& measured, const Experiment& experiment);

}  // namespace tessera::experiment
