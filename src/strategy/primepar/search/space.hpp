// What may be chosen for each operator, as the [strategy] table has it.
#pragma once

#include <optional>
#include <vector>

#include "../costs/costs.hpp"
#include "tessera/strategy/primepar/primepar.hpp"

namespace tessera::strategy::primepar {

struct Space {
  std::vector<std::vector<Partition>> choices;  ///< by node
  std::vector<Choice> given;                    ///< of each layer; none: to be searched
  std::vector<Choice> compared;                 ///< of each layer; none: the experiment has no plan to compare with
};

/// Partitions of each layer's nodes.
[[nodiscard]] std::vector<std::vector<Partition>> partitions_of(const Space& space, const std::vector<Choice>& layers);

/// Where a node has that partition among its choices.
[[nodiscard]] std::optional<std::size_t> find_choice(const Space& space, std::size_t node, const Partition& partition);

/// For each operator what the table gives, or all. What is wrong goes to `diagnostics`.
[[nodiscard]] Space read_space(const config::Table& strategy, const Options& options, const Graph& graph,
                               std::int64_t layers, int bits, config::Diagnostics& diagnostics);

}  // namespace tessera::strategy::primepar
