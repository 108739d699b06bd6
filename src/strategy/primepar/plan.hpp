// What is simulated of a plan.
#pragma once

#include <string>

#include "setup.hpp"

namespace tessera::strategy::primepar {

/// Partitions of each layer's nodes.
using LayerPartitions = std::vector<std::vector<Partition>>;

[[nodiscard]] program::Program write_program(const Setup& setup, const Job& job, const LayerPartitions& layers);

/// How all layers cut that node, as the [strategy] table has it: "{N, P(2x2)}".
[[nodiscard]] std::string node_text(const Graph& graph, std::size_t node, const LayerPartitions& layers);

}  // namespace tessera::strategy::primepar
