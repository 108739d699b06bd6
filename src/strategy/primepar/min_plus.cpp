#include "min_plus.hpp"

#include <algorithm>
#include <limits>

namespace tessera::strategy::primepar {
namespace {

// Tiles of b that stay in a core's second cache while all rows of a pass over them, and a row's part in the first.
constexpr std::size_t tile_rows = 64, tile_columns = 256;

/// best[j] = min(best[j], before[k] + after[k][j]) for so many k, four at a time: best is read and written less often.
void relax(double* best, const double* before, const double* after, std::size_t stride, std::size_t count,
           std::size_t columns) {
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4) {
    const double a0 = before[k], a1 = before[k + 1], a2 = before[k + 2], a3 = before[k + 3];
    const double *b0 = after + k * stride, *b1 = b0 + stride, *b2 = b1 + stride, *b3 = b2 + stride;
    for (std::size_t j = 0; j < columns; ++j) {
      const double first = std::min(a0 + b0[j], a1 + b1[j]), second = std::min(a2 + b2[j], a3 + b3[j]);
      best[j] = std::min(best[j], std::min(first, second));
    }
  }
  for (; k < count; ++k) {
    for (std::size_t j = 0; j < columns; ++j) best[j] = std::min(best[j], before[k] + after[k * stride + j]);
  }
}

}  // namespace

Costs min_plus(const Costs& a, const std::vector<double>& twice, const Costs& b) {
  Costs found(a.rows, b.columns, std::numeric_limits<double>::infinity());
  std::vector<double> before(a.values);
  for (std::size_t i = 0; i < a.rows; ++i) {
    for (std::size_t k = 0; k < a.columns; ++k) before[i * a.columns + k] -= twice[k];
  }
  for (std::size_t j = 0; j < b.columns; j += tile_columns) {
    const std::size_t columns = std::min(tile_columns, b.columns - j);
    for (std::size_t k = 0; k < b.rows; k += tile_rows) {
      const std::size_t rows = std::min(tile_rows, b.rows - k);
      for (std::size_t i = 0; i < a.rows; ++i)
        relax(&found.values[i * b.columns + j], &before[i * a.columns + k], &b.values[k * b.columns + j], b.columns,
              rows, columns);
    }
  }
  return found;
}

std::vector<double> min_plus(const Costs& a, const std::vector<double>& b) {
  std::vector<double> found(a.rows, std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < a.rows; ++i) {
    const double* row = &a.values[i * a.columns];
    for (std::size_t k = 0; k < a.columns; ++k) found[i] = std::min(found[i], row[k] + b[k]);
  }
  return found;
}

}  // namespace tessera::strategy::primepar
