// The plans that a search hands to the simulator: what it predicts is a sum of costs, which devices that get out of
// step do not keep to, so that the fastest of a handful is found by simulating them.
#pragma once

#include <string>
#include <vector>

#include "search.hpp"
#include "space.hpp"

namespace tessera::strategy::primepar {

struct Proposal {
  std::string origin;  ///< which search or rule it is from
  std::vector<Choice> layers;
  Time predicted = 0;
  std::int64_t struck_out = 0;  ///< choices that the search left out, see Found; 0: it is no search's best

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& origin& layers& predicted& struck_out;
  }
};

/// The first is what the search finds; where nothing fits, or `simulated` is below 2, it is the only one. Behind it, no
/// plan twice: the best `simulated` for different partitions of the linears; as many of the search without P, the same
/// that it finds where P may not be chosen; of all these those in which what streams is cut as the product before it
/// leaves its result; Megatron's tensor parallelism of every degree; what the experiment compares with. The tables are
/// as before at the end.
[[nodiscard]] std::vector<Proposal> find_candidates(CostTables& tables, const Graph& graph, const Space& space,
                                                    std::int64_t layers, int bits, std::int64_t simulated,
                                                    const Capacity& capacity);

}  // namespace tessera::strategy::primepar
