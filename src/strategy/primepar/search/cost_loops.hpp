// The inner loops of the search: compiled for every processor, and for those with AVX2, which is chosen when the
// program runs. They add, subtract and compare, one by one, so that what they find is the same bits on all of them.
#pragma once

#include <cstddef>

namespace tessera::strategy::primepar {

/// Blocks of three row-major matrices, whose rows are so far apart: best[rows x columns], before[rows x inner],
/// after[inner x columns].
struct RelaxedBlock {
  double* best = nullptr;
  const double* before = nullptr;
  const double* after = nullptr;
  std::size_t best_stride = 0, before_stride = 0, after_stride = 0;
  std::size_t rows = 0, inner = 0, columns = 0;
};

struct CostLoops {
  /// best(i, j) = min(best(i, j), before(i, k) + after(k, j)) for all k.
  void (*relax)(const RelaxedBlock& block) = nullptr;
  /// The most that a[k] - b[k] is for any k, -infinity without any; where that is more than `enough` some of it.
  double (*most_difference)(const double* a, const double* b, std::size_t count, double enough) = nullptr;
};

/// For the least processor that the program is built for.
[[nodiscard]] CostLoops baseline_cost_loops();
/// Only where has_avx2() (base/processor.hpp).
[[nodiscard]] CostLoops avx2_cost_loops();
/// For this processor.
[[nodiscard]] const CostLoops& cost_loops();

}  // namespace tessera::strategy::primepar
