// An operator that PrimePar partitions (Wang et al., PrimePar, ASPLOS 2024): tensors with named dimensions, and the
// three phases of training it. Most are products of two tensors, and so is each of their phases:
//
//   forward   O  = I  W      linear: O[B,M,K] = I[B,M,N] W[N,K]; B and M are both rows of the product
//   backward  dI = dO W^T
//   gradient  dW = I^T dO    sums over B and M
//
// A matmul of attention has heads beside the batch, and its W is an activation. Norms, softmax, activation functions
// and residuals stream: O and I have the same dimensions, and W is what parameters they have. What tensor parallelism
// does on every device alike is cut in R, which no tensor has: those that differ in it do the same.
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
/// Of the names of a phase's kernels, as elsewhere: "", " dgrad", " wgrad".
[[nodiscard]] const char* suffix_of(Phase phase);

/// What a phase multiplies, and what it adds the products to.
struct Product {
  Tensor left, right, sum;
};
[[nodiscard]] Product product_of(Phase phase);

struct Dimension {
  std::string name;         ///< one that a partition is written with: "N"
  std::int64_t extent = 1;  ///< elements
  bool whole = false;       ///< never cut
};

/// Dimensions of an operator at most: batch, heads, query heads that share keys, rows, contracted, columns.
inline constexpr int max_dimensions = 6;
/// The dimension of what is done more than once.
inline constexpr const char* repetition = "R";

enum class Kind : std::uint8_t { linear, matmul, streaming };

struct Operator {
  std::string name;
  std::vector<Dimension> dimensions;
  /// Indices into `dimensions`, outermost first, of I, W and O; a gradient has those of its tensor.
  std::array<std::vector<int>, 3> tensors;
  int rows = 0, contracted = 0, columns = 0;  ///< the dimensions that P's M, N and K cut
  Kind kind = Kind::linear;
  /// Dimensions by which results of sums over the others are known, where a phase needs such (a norm's mean and
  /// variance); all devices that share their slices of these exchange them.
  std::vector<int> statistics;

  /// P cuts products alone.
  [[nodiscard]] bool has_squares() const { return kind != Kind::streaming; }
  /// W is something that training changes.
  [[nodiscard]] bool has_parameters() const { return kind != Kind::matmul && !tensors[1].empty(); }
  /// Whether it works in that phase: streaming operators without parameters have no gradient.
  [[nodiscard]] bool works_in(Phase phase) const { return phase != Phase::gradient || !tensors[1].empty(); }
  [[nodiscard]] const std::vector<int>& dimensions_of(Tensor tensor) const;
  [[nodiscard]] int dimension_count() const { return static_cast<int>(dimensions.size()); }
};

/// O[B,M,K] = I[B,M,N] W[N,K], the dimensions in the order B, M, N, K. Throws InputError on an extent below one.
[[nodiscard]] Operator linear(const std::string& name, std::int64_t batch, std::int64_t rows, std::int64_t contracted,
                              std::int64_t columns);

/// O[B,H,G,M,K] = I[B,H,G,M,N] W[B,H,N,K], in the order B, H, G, M, N, K: heads H of keys and values, G query heads for
/// each of them, which stay together.
struct Heads {
  std::int64_t batch = 1, heads = 1, queries = 1;
};
[[nodiscard]] Operator matmul(const std::string& name, const Heads& heads, std::int64_t rows, std::int64_t contracted,
                              std::int64_t columns);

/// O and I have all dimensions but R, which is added, the last one; W has those of `parameters`.
[[nodiscard]] Operator streaming(const std::string& name, std::vector<Dimension> dimensions,
                                 std::vector<int> parameters = {});

}  // namespace tessera::strategy::primepar
