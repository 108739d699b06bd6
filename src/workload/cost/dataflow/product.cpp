#include "product.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"

namespace tessera::workload::dataflow {
namespace {

/// Rows of the image that rows [begin, end) of one sample's output look at; what is padding is not there.
std::int64_t rows_seen(const Convolution& of, std::int64_t begin, std::int64_t end) {
  const std::int64_t first = begin * of.stride_down - of.pad_down;
  const std::int64_t last = (end - 1) * of.stride_down - of.pad_down + (of.window_height - 1) * of.dilation;
  return std::max<std::int64_t>(0, std::min(last, of.height - 1) - std::max<std::int64_t>(first, 0) + 1);
}

/// Bytes of an element, from those of the whole operator.
void set_bytes(const Operator& op, double inputs, double weights, Product& product) {
  if (op.datatype == "fp4")
    throw KeyError("workload.product_datatype",
                   "\"product_datatype\": cost model dataflow has whole bytes an element in its SRAM, allowed: same, "
                   "fp8, int8");
  product.element = bytes_per_element(op.datatype);
  const double element = real(product.element), results = real(op.batch) * real(op.m) * real(op.n);
  const double read = real(op.bytes_read), operands = element * (inputs + weights);
  product.weight = std::min(element, read / weights);
  product.input = std::clamp((read - element * weights) / inputs, 0.0, element);
  product.result = real(op.bytes_written) / results;
  product.added = std::max(0.0, read - operands) / results;
}

}  // namespace

std::int64_t Product::input_of(std::int64_t m, std::int64_t rows) const {
  if (!image) return rows;
  const std::int64_t in_sample = image->out_height;
  std::int64_t seen = 0;
  for (std::int64_t at = m; at < m + rows;) {
    const std::int64_t begin = at % in_sample, samples = begin == 0 ? (m + rows - at) / in_sample : 0;
    if (samples > 0) {
      seen += samples * rows_seen(*image, 0, in_sample);
      at += samples * in_sample;
    } else {
      const std::int64_t end = std::min(in_sample, begin + m + rows - at);
      seen += rows_seen(*image, begin, end);
      at += end - begin;
    }
  }
  return seen * image->width;
}

std::int64_t Product::most_input_of(std::int64_t rows) const {
  if (!image) return rows;
  const std::int64_t samples = rows / image->out_height, rest = rows % image->out_height;
  const std::int64_t halo = (image->window_height - 1) * image->dilation + 1;
  const std::int64_t of_rest = rest == 0 ? 0 : std::min(image->height, (rest - 1) * image->stride_down + halo);
  return (samples * image->height + of_rest) * image->width;
}

Product matrices_of(const Operator& op) {
  Product product;
  product.sides = {op.batch, op.m, op.n, op.k};
  set_bytes(op, real(op.batch) * real(op.m) * real(op.k), real(op.batch) * real(op.k) * real(op.n), product);
  if (op.convolution.is_one()) product.input = real(product.element);
  return product;
}

Product rows_of(const Operator& op) {
  const Convolution& of = op.convolution;
  Product product;
  product.image = of;
  product.results_of_m = of.out_width;
  product.terms_of_k = of.window_height * of.window_width;
  product.sides = {op.batch, op.m / of.out_width, op.n, op.k / product.terms_of_k};
  const std::int64_t seen = product.input_of(0, product.sides[of_m]);
  set_bytes(op, real(op.batch) * real(seen) * real(product.sides[of_k]), real(op.batch) * real(op.k) * real(op.n),
            product);
  product.input = real(product.element);
  return product;
}

}  // namespace tessera::workload::dataflow
