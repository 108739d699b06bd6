// An operator that PrimePar partitions (Wang et al., PrimePar, ASPLOS 2024): a product of two tensors with named
// dimensions, and the three phases of training it, each a product again.
//
//   forward   O  = I  W      linear: O[B,M,K] = I[B,M,N] W[N,K]; B and M are both rows of the product
//   backward  dI = dO W^T
//   gradient  dW = I^T dO    sums over B and M
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::strategy::primepar {

enum class Phase : std::uint8_t { forward, backward, gradient };
inline constexpr std::array<Phase, 3> all_phases{Phase::forward, Phase::backward, Phase::gradient};

enum class Tensor : std::uint8_t { input, weight, output, input_gradient, weight_gradient, output_gradient };
inline constexpr std::array<Tensor, 6> all_tensors{Tensor::input,           Tensor::weight,
                                                   Tensor::output,          Tensor::input_gradient,
                                                   Tensor::weight_gradient, Tensor::output_gradient};

/// "forward", "I", "dW", ...: as the slides write them.
[[nodiscard]] const char* name_of(Phase phase);
[[nodiscard]] const char* name_of(Tensor tensor);

/// What a phase multiplies, and what it adds the products to.
struct Product {
  Tensor left, right, sum;
};
[[nodiscard]] Product product_of(Phase phase);

struct Dimension {
  std::string name;         ///< one that a partition is written with: "N"
  std::int64_t extent = 1;  ///< elements
};

/// Dimensions of an operator at most: batch, heads, rows, contracted, columns.
inline constexpr int max_dimensions = 5;

struct Operator {
  std::string name;
  std::vector<Dimension> dimensions;
  /// Indices into `dimensions`, outermost first, of I, W and O; a gradient has those of its tensor.
  std::array<std::vector<int>, 3> tensors;
  int rows = 0, contracted = 0, columns = 0;  ///< the dimensions that P's M, N and K cut

  [[nodiscard]] const std::vector<int>& dimensions_of(Tensor tensor) const;
  [[nodiscard]] int dimension_count() const { return static_cast<int>(dimensions.size()); }
};

/// O[B,M,K] = I[B,M,N] W[N,K], the dimensions in the order B, M, N, K. Throws InputError on an extent below one.
[[nodiscard]] Operator linear(const std::string& name, std::int64_t batch, std::int64_t rows, std::int64_t contracted,
                              std::int64_t columns);

}  // namespace tessera::strategy::primepar
