// The one definition of the kernels, for files that are compiled for different processors. Each of them has its own
// copy in an anonymous namespace, and Eigen under a name of its own: functions of one name that were compiled for
// different processors would be taken for each other when the program is linked.
#pragma once

#include <Eigen/Core>

#include "tessera/base/learning/kernels.hpp"

namespace tessera::learning {
namespace {

template <class Scalar>
struct EigenProducts {
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using In = Eigen::Map<const Matrix>;
  using Out = Eigen::Map<Matrix>;

  static Eigen::Index at(std::size_t size) { return static_cast<Eigen::Index>(size); }
  static In in(const Scalar* data, std::size_t rows, std::size_t columns) { return In(data, at(rows), at(columns)); }

  static void product(const Scalar* a, const Scalar* b, Scalar* c, std::size_t rows, std::size_t inner,
                      std::size_t columns) {
    Out(c, at(rows), at(columns)).noalias() += in(a, rows, inner) * in(b, inner, columns);
  }
  static void product_by_transpose(const Scalar* a, const Scalar* b, Scalar* c, std::size_t rows, std::size_t inner,
                                   std::size_t columns) {
    Out(c, at(rows), at(columns)).noalias() += in(a, rows, inner) * in(b, columns, inner).transpose();
  }
  static void product_of_transpose(const Scalar* a, const Scalar* b, Scalar* c, std::size_t rows, std::size_t inner,
                                   std::size_t columns) {
    Out(c, at(rows), at(columns)).noalias() += in(a, inner, rows).transpose() * in(b, inner, columns);
  }

  static Kernels<Scalar> all(const char* name) {
    // Blocks decide in which order sums go: as for these caches, whichever the processor has.
    constexpr std::ptrdiff_t l1 = 32 << 10, l2 = 512 << 10, l3 = 4 << 20;
    Eigen::setCpuCacheSizes(l1, l2, l3);
    return {name, product, product_by_transpose, product_of_transpose};
  }
};

}  // namespace
}  // namespace tessera::learning
