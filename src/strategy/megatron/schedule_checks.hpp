// What a schedule cannot run together with.
#pragma once

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// Of schedules that split the backward pass, or run micro-batches in both directions. Problems go to `diagnostics`.
void check_schedule(const config::Table& table, const Cut& cut, config::Diagnostics& diagnostics);

/// Of schedules that run forward beside backward passes layer by layer, when it is known what runs again.
void check_combined(const config::Table& table, const Cut& cut, config::Diagnostics& diagnostics);

}  // namespace tessera::strategy::megatron
