// An operator as a nest of loops sees it: products of matrices, or of images and filters, by their sides.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "tessera/workload/operator.hpp"

namespace tessera::workload::dataflow {

/// Sides of a product, as indices.
enum Side : std::uint8_t { of_batch, of_m, of_n, of_k };
using Sides = std::array<std::int64_t, 4>;
[[nodiscard]] constexpr double real(std::int64_t count) { return static_cast<double>(count); }
/// The loops over m, n and k, outermost first. That over the batch is outside of all: its products share nothing.
using Order = std::array<Side, 3>;

/// Products of (m x k) by (k x n). The left operand is called the input, the right one the weights, as in the
/// literature; in a backward pass they are what stands there.
struct Product {
  Sides sides{};
  /// Results in a unit of m and terms of a sum in a unit of k: more than one where the units are rows of an image and
  /// its channels.
  std::int64_t results_of_m = 1, terms_of_k = 1;
  std::optional<Convolution> image;  ///< whose rows m counts, of all samples; none: the input is a matrix
  /// Bytes of an element in the device's memory. `added`: what a result is added to, read once.
  double input = 0, weight = 0, result = 0, added = 0;
  std::int64_t element = 0;  ///< B of an operand's element in the SRAM

  /// Elements of the input that units [m, m + rows) of one product need, in one unit of k.
  [[nodiscard]] std::int64_t input_of(std::int64_t m, std::int64_t rows) const;
  /// The same, wherever they begin: the most.
  [[nodiscard]] std::int64_t most_input_of(std::int64_t rows) const;
  [[nodiscard]] std::int64_t weights_of(std::int64_t n, std::int64_t k) const { return n * k * terms_of_k; }
  [[nodiscard]] std::int64_t results_of(std::int64_t m, std::int64_t n) const { return m * results_of_m * n; }
};

/// B of a partial sum: accumulators are FP32, or INT32.
inline constexpr std::int64_t sum_bytes = 4;

/// Of a gemm: a convolution with its windows written out as rows of a matrix. Bytes are those that the operator states:
/// what it reads beyond its operands is added to its results, and where it reads less than them, as a convolution does
/// whose windows nobody knows, its input has fewer bytes an element.
[[nodiscard]] Product matrices_of(const Operator& op);
/// Of a convolution: rows of images by rows of filters.
[[nodiscard]] Product rows_of(const Operator& op);

}  // namespace tessera::workload::dataflow
