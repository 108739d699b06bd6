// The keys of data_sharding and weight_streaming, checked against the job. Problems go to `diagnostics`.
#pragma once

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// Settles what follows from them: options, and Cut::hosts. Expects devices, experts and micro-batches.
void read_sharding(const config::Table& table, const Job& job, Cut& cut, config::Diagnostics& diagnostics);
/// Units that are whole at a time have to fit into a device. Expects a cut without errors.
void check_room_for_units(const config::Table& table, const Job& job, const Cut& cut, config::Diagnostics& diagnostics);

}  // namespace tessera::strategy::megatron
