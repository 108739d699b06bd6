// Contenders judged by simulation.
#pragma once

#include "contenders.hpp"

namespace tessera::strategy::watos {

/// Of contenders, in their order, on all ranks together. Those that are certain and the best rival by Megatron's rule
/// are simulated; of the others those whose lower bound is below the fastest by then. One that is struck out by its
/// bound is not feasible, and has that as its time.
[[nodiscard]] std::vector<program::Evaluation> judged(const Question& question,
                                                      const std::vector<Contender>& contenders);

/// The first of the fastest; as many as there are: none can run.
[[nodiscard]] std::size_t fastest_of(const std::vector<program::Evaluation>& found);

}  // namespace tessera::strategy::watos
