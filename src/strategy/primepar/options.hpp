// Partitions by the name of their operator.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tessera/strategy/primepar/primepar.hpp"

namespace tessera::strategy::primepar {

using PartitionKey = std::pair<const char*, std::string Partitions::*>;
/// In the order of the layer; names as those of the graph's operators.
[[nodiscard]] const std::vector<PartitionKey>& partition_keys();

/// The dimension that Megatron's tensor parallelism cuts of the operator of that key: columns of the products that come
/// first, rows of those whose results are summed, heads between them. R: it repeats the operator.
[[nodiscard]] char tensor_dimension(const std::string& key);

}  // namespace tessera::strategy::primepar
