// From what may be chosen to the partitions of all layers.
#pragma once

#include <vector>

#include "search.hpp"

namespace tessera::strategy::primepar {

struct Space {
  std::vector<std::vector<Partition>> choices;  ///< by node
  std::vector<Choice> given;                    ///< of each layer; none: to be searched
};

struct Chosen {
  std::vector<std::vector<Partition>> layers;  ///< by layer and node
  Time predicted = 0;                          ///< 0: without an evaluator, or on too many devices
  std::vector<Time> operators;                 ///< of it, by node, all layers together
  Time exposed = 0;                            ///< of it, exposed_sums(); the rest is redistribution
  std::int64_t relaxations = 0;                ///< of the search
};

/// Partitions of each layer's nodes.
[[nodiscard]] std::vector<std::vector<Partition>> partitions_of(const Space& space, const std::vector<Choice>& layers);

/// The fastest of the space whose `peak`, in bytes, fits into a device, as predicted, or what is given. All ranks of
/// job.comm take part and have the same; rank 0 searches.
[[nodiscard]] Chosen choose(const Job& job, const Graph& graph, const Space& space, const Passes& passes,
                            std::int64_t layers, int bits,
                            const std::function<std::int64_t(const std::vector<std::vector<Partition>>&)>& peak);

}  // namespace tessera::strategy::primepar
