// Who sends to whom, by a program.
#pragma once

#include "sim/fold/fold.hpp"
#include "sim/network/wiring.hpp"
#include "tessera/program/collective.hpp"

namespace tessera::sim {

/// Devices without a part in the program send nothing. With a fold, destinations are those up to the collectives that
/// split it. What is handed over outlives the result; `fold` may be null.
[[nodiscard]] Destinations destinations_of(program::Lowerings& lowerings, const Fold* fold = nullptr);

}  // namespace tessera::sim
