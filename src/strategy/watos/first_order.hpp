// What no plan of a cut could beat to first order: the bound that the study prints beside each of its figures.
#pragma once

#include "problem.hpp"

namespace tessera::strategy::watos {

/// Of one cut, were memory one pool that costs nothing, and work spread evenly.
struct FirstOrder {
  bool fits = false;   ///< the pool holds the smallest sets
  Time iteration = 0;  ///< ps
  Time work = 0;       ///< ps of a micro-batch over all stages, forward and backward, what runs again included
  Time again = 0;      ///< ps of that for what runs again
};

/// n micro-batches on p stages: (n + p - 1) work / p, then the update of the fastest place, and sums over the
/// replicas. Each stage stands where it is the fastest. Its sets may be mixed in any share, so that what runs again is
/// the cheapest that makes all stages together fit: of the segments of the stages' convex hulls, those that cost the
/// least time a byte. Rings, operators and sizes are those of the predictions.
/// A plan can be below it where a stage behind the first one has less than its share of the work: 1F1B is
/// shortest with stages that grow lighter towards the end, by less than p / 2n of the iteration.
[[nodiscard]] FirstOrder first_order(const Problem& problem);

}  // namespace tessera::strategy::watos
