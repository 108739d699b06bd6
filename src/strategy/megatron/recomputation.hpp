// What each stage computes again.
#pragma once

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// Fills in Cut::recomputed from recomputation, recomputed_sections and the stages' own. Problems go to `diagnostics`.
void read_recomputation(const config::Table& table, const Job& job, Cut& cut, config::Diagnostics& diagnostics);

/// Sections of those names, each once. InputError with those that there are for another name.
[[nodiscard]] workload::LayerSections sections_of(const std::vector<std::string>& names);

/// "selective", or where stages differ "full x 2, fc1, activation x 3, none x 9": so many stages one after another.
[[nodiscard]] std::string recomputation_text(const Cut& cut);

}  // namespace tessera::strategy::megatron
