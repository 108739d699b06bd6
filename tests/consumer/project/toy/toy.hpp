// A strategy from outside: contiguous stages of a computation graph, one a chip, whose weights are loaded anew for
// every input. Where to cut is searched; how fast weights are loaded stands in a file.
#pragma once

#include "tessera/strategy/strategy.hpp"

namespace toy {
[[nodiscard]] tessera::strategy::StrategyKind kind();
}  // namespace toy
