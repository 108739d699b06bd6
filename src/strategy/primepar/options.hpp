// Partitions by the name of their operator.
#pragma once

#include <utility>
#include <vector>

#include "tessera/strategy/primepar/primepar.hpp"

namespace tessera::strategy::primepar {

using PartitionKey = std::pair<const char*, std::string Partitions::*>;
/// In the order of the layer; names as those of the graph's operators.
[[nodiscard]] const std::vector<PartitionKey>& partition_keys();

}  // namespace tessera::strategy::primepar
