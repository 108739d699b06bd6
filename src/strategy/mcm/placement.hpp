// A partition node by node, for result files.
#pragma once

#include "package.hpp"

namespace tessera::strategy::mcm {

/// Replicated nodes are on each chip that has a copy.
[[nodiscard]] Placement placement_of(const Package& package, const Partition& partition);

}  // namespace tessera::strategy::mcm
