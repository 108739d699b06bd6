#include "dataflows.hpp"

#include <algorithm>

#include "tessera/base/integers.hpp"

namespace tessera::workload::dataflow {

const std::vector<Dataflow>& dataflows() {
  static const std::vector<Dataflow> all = {output_stationary(), weight_stationary(), input_stationary(),
                                            row_stationary()};
  return all;
}

namespace {

bool applies_to_all(const Operator&) { return true; }

CoreWork matrix_work(const Product& product, const Sides& extent, const machine::ArraySpec& array) {
  const auto [batch, m, n, k] = extent;
  const auto laid = [&, m = m, n = n, k = k](std::int64_t along_m, std::int64_t along_n) {
    const std::int64_t down = ceil_div(m, along_m), right = ceil_div(n, along_n);
    // In each pass a row of MACs shares an element of the input, a column one of the weights. Sums are fetched and put
    // back once.
    return CoreWork{down * right * k, product.element * k * (m * right + n * down) + 2 * sum_bytes * m * n};
  };
  const CoreWork upright = laid(array.pe_rows, array.pe_columns), lying = laid(array.pe_columns, array.pe_rows);
  return upright.clocks <= lying.clocks ? upright : lying;
}

}  // namespace

Dataflow matrix_dataflow(std::string name, std::string help, std::vector<Order> orders) {
  return {std::move(name), std::move(help), std::move(orders), applies_to_all, matrices_of, matrix_work, false};
}

}  // namespace tessera::workload::dataflow
