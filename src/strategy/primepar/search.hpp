// The partitions of least cost: segmented dynamic programming (PrimePar, ASPLOS 2024, slides: optimization algorithm).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "costs.hpp"

namespace tessera::strategy::primepar {

struct Found {
  std::vector<std::size_t> chosen;  ///< by node
  Time cost = 0;                    ///< total_cost() of it
  std::int64_t relaxations = 0;     ///< sums that were compared
};

/// Of one layer in the midst of equal ones, or of a graph alone. Operators run in order; a segment begins at each one
/// that others than its successor read, and within a segment
///
///   C(a,j+1)(Pa,Pj+1) = min over Pj of C(a,j)(Pa,Pj) + e(j,j+1)(Pj,Pj+1), plus e(a,j+1)(Pa,Pj+1) + n(j+1)(Pj+1);
///
/// segments are merged over the operator that they share, which counts once. Of equal costs the first choices win.
/// Throws InternalError for a graph in which an operator in the midst of merged segments is still read behind them.
[[nodiscard]] Found segmented_search(const CostTables& tables);

/// The segmented search for latency + lambda x bytes, with the least lambda for which what it finds fits: by doubling
/// and bisection, to 1 %. Where nothing fits, what holds the least. The cost is the latency alone.
[[nodiscard]] Found search_that_fits(CostTables tables, const std::function<bool(const Found&)>& fits);

/// The same by trying everything: for tests on small tables.
[[nodiscard]] Found exhaustive_search(const CostTables& tables);

}  // namespace tessera::strategy::primepar
