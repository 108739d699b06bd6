// From what may be chosen to the partitions of all layers.
#pragma once

#include <functional>
#include <vector>

#include "candidates.hpp"

namespace tessera::strategy::primepar {

/// What a search is about; all of it outlives the search.
struct Search {
  const Job* job = nullptr;
  const Graph* graph = nullptr;
  const Space* space = nullptr;
  const Passes* passes = nullptr;
  std::int64_t layers = 1;     ///< of a stage
  int bits = 0;                ///< of a stage's devices
  std::int64_t simulated = 0;  ///< Options::simulated
  /// What is simulated of a plan, whose partitions are by layer and node.
  std::function<program::Program(const std::vector<std::vector<Partition>>&)> program;
};

struct Chosen {
  std::vector<std::vector<Partition>> layers;    ///< by layer and node
  Time predicted = 0;                            ///< 0: without an evaluator, or on too many devices
  std::vector<Time> operators;                   ///< of it, by node, all layers together
  Time exposed = 0;                              ///< of it, exposed_sums(); the rest is redistribution
  std::vector<Proposal> candidates;              ///< that there were, ...
  std::vector<program::Evaluation> evaluations;  ///< ... and what came of simulating them; none: nothing was simulated
  std::size_t taken = 0;                         ///< of the candidates
};

/// What is given, or of all candidates whose program fits into every device the one whose simulation is the fastest.
/// All ranks of job.comm take part and have the same; rank 0 searches, and each simulates some.
[[nodiscard]] Chosen choose(const Search& search);

}  // namespace tessera::strategy::primepar
