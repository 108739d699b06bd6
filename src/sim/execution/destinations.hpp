// Who sends to whom, by a program.
#pragma once

#include "sim/network/wiring.hpp"
#include "tessera/program/collective.hpp"

namespace tessera::sim {

/// Devices without a part in the program send nothing. What is handed over outlives the result.
[[nodiscard]] Destinations destinations_of(program::Lowerings& lowerings);

}  // namespace tessera::sim
