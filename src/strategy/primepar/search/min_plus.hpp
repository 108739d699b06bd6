// Products of cost matrices in which sums take the place of products, and the least one that of the sum.
#pragma once

#include <cstddef>
#include <vector>

namespace tessera::strategy::primepar {

/// Whole picoseconds in doubles, exact below 2^53 (two hours): such are added and compared several at a time.
struct Costs {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;  ///< row by row

  Costs() = default;
  Costs(std::size_t rows_in, std::size_t columns_in, double value)
      : rows(rows_in), columns(columns_in), values(rows_in * columns_in, value) {}
  [[nodiscard]] double& at(std::size_t row, std::size_t column) { return values[row * columns + column]; }
  [[nodiscard]] double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

/// c(i, j) = min over k of a(i, k) - twice(k) + b(k, j): a and b both count what `twice` says of k.
[[nodiscard]] Costs min_plus(const Costs& a, const std::vector<double>& twice, const Costs& b);
/// The same of a matrix and a column: c(i) = min over k of a(i, k) + b(k).
[[nodiscard]] std::vector<double> min_plus(const Costs& a, const std::vector<double>& b);

}  // namespace tessera::strategy::primepar
