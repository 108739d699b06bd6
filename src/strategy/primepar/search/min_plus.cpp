#include "min_plus.hpp"

#include <algorithm>
#include <limits>

#include "cost_loops.hpp"

namespace tessera::strategy::primepar {
namespace {

// Tiles of b that stay in a core's second cache while all rows of a pass over them, and a row's part in the first.
constexpr std::size_t tile_rows = 64, tile_columns = 256;

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
      cost_loops().relax({&found.values[j], &before[k], &b.values[k * b.columns + j], b.columns, a.columns, b.columns,
                          a.rows, rows, columns});
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
