// Which devices a stage has, where the table says so.
#pragma once

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// The table has tiles, or devices of a stage.
[[nodiscard]] bool has_places(const Options& options);

/// Fills in Cut::devices, Cut::spare and Cut::placement from them. Expects tensor, pipeline and data, which are right
/// for the machine. Problems go to `diagnostics`.
void place_stages(const config::Table& table, const Job& job, Cut& cut, config::Diagnostics& diagnostics);

/// Warns of the first tensor-parallel group of a mesh or torus that is no rectangle: its ring goes the long way.
void warn_of_wrapped_groups(const config::Table& table, const Job& job, const Cut& cut,
                            config::Diagnostics& diagnostics);

}  // namespace tessera::strategy::megatron
