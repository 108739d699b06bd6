// Strategy "mcm": a computation graph cut over the chips of a package, inference inputs passing through one after
// another ("A Transferable Approach for Partitioning Machine Learning Models on Multi-Chip-Modules", sections 3 and 5).
#pragma once

#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy::mcm {

[[nodiscard]] StrategyKind kind();

}  // namespace tessera::strategy::mcm
