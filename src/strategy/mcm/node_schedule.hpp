// In which order a chip runs its nodes, and what it holds of an input meanwhile.
#pragma once

#include <vector>

#include "chip_work.hpp"

namespace tessera::strategy::mcm {

/// Nodes of one chip and the tensors that live on it for a while, by number on the chip.
struct LocalGraph {
  struct Node {
    workload::GraphNodeId id = 0;
    std::vector<std::uint32_t> reads;   ///< local tensors, none twice
    std::vector<std::uint32_t> writes;  ///< local tensors
    std::vector<std::uint32_t>
        behind;                 ///< nodes of the chip that read what it makes, whether it is a local tensor or not
    std::uint32_t sources = 0;  ///< nodes of the chip that it is behind
  };
  struct LocalTensor {
    std::int64_t bytes = 0;
    std::uint32_t readers = 0;  ///< nodes of the chip
    bool is_the_hosts = false;  ///< allocated for its first reader
  };
  std::vector<Node> nodes;  ///< in the graph's topological order
  std::vector<LocalTensor> tensors;
};

/// All nodes once, each behind those that it reads from.
[[nodiscard]] std::vector<Turn> scheduled(const LocalGraph& graph, NodeSchedule schedule);

/// B: the most that turns hold.
[[nodiscard]] std::int64_t most_held(const std::vector<Turn>& turns);

}  // namespace tessera::strategy::mcm
