// Eyeriss (Chen et al., ISCA 2016): a MAC convolves a row of an image with a row of a filter. Rows of filters stay with
// rows of MACs, rows of the image pass diagonally, so that nothing is written out twice as in a matrix of windows.
#include <algorithm>

#include "dataflows.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload::dataflow {
namespace {

bool is_convolution(const Operator& op) { return op.convolution.is_one(); }

/// As many sets of window height x output rows as fit onto the MACs work side by side: filters first, which share the
/// rows of the image, then channels. A MAC keeps its row of sums.
CoreWork row_work(const Product& product, const Sides& extent, const machine::ArraySpec& array) {
  const Convolution& of = *product.image;
  const auto [batch, rows, filters, channels] = extent;
  const std::int64_t high = std::min(of.window_height, array.pe_rows), wide = std::min(rows, array.pe_columns);
  if (high == 0 || wide == 0) return {};
  const std::int64_t folds = ceil_div(of.window_height, high), strips = ceil_div(rows, wide);
  const std::int64_t sets = (array.pe_rows / high) * (array.pe_columns / wide);
  const std::int64_t of_filters = std::min(sets, filters), of_channels = std::min(sets / of_filters, channels);
  const std::int64_t rounds = ceil_div(filters, of_filters), turns = ceil_div(channels, of_channels);
  const std::int64_t image = product.most_input_of(rows) * channels * rounds;
  const std::int64_t weights = product.weights_of(filters, channels) * strips;
  return {rounds * turns * strips * folds * of.out_width * of.window_width,
          product.element * (image + weights) + 2 * sum_bytes * product.results_of(rows, filters)};
}

}  // namespace

Dataflow row_stationary() {
  return {"row-stationary",
          "rows of filters stay while rows of images pass; of convolutions",
          {{of_m, of_n, of_k}, {of_n, of_m, of_k}},
          is_convolution,
          rows_of,
          row_work,
          true};
}

}  // namespace tessera::workload::dataflow
