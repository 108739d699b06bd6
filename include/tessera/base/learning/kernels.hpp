// Products of dense row-major matrices, by Eigen: compiled for every processor, and for those with AVX2, which is
// chosen when the program runs.
#pragma once

#include <cstddef>

namespace tessera {
class Communicator;
}

namespace tessera::learning {

/// What a network's layers ask for. All matrices are dense and row-major, and c is added to:
///   product               c[rows x columns] += a[rows x inner] b[inner x columns]
///   product_by_transpose  c[rows x columns] += a[rows x inner] b[columns x inner]^T
///   product_of_transpose  c[rows x columns] += a[inner x rows]^T b[inner x columns]
/// Sums go in an order that depends on sizes alone, so that results are the same bits on all processors of one kind.
template <class Scalar>
struct Kernels {
  using Product = void (*)(const Scalar* a, const Scalar* b, Scalar* c, std::size_t rows, std::size_t inner,
                           std::size_t columns);
  const char* name = "";  ///< "AVX2", "baseline": for /provenance
  Product product = nullptr;
  Product product_by_transpose = nullptr;
  Product product_of_transpose = nullptr;
};

/// For the least processor that the program is built for.
template <class Scalar>
[[nodiscard]] Kernels<Scalar> baseline_kernels();
/// Only where has_avx2() (base/processor.hpp).
[[nodiscard]] Kernels<float> avx2_kernels();
/// Those that all ranks have.
[[nodiscard]] Kernels<float> common_kernels(Communicator& comm);

}  // namespace tessera::learning
