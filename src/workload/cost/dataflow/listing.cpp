#include "listing.hpp"

#include <cmath>

namespace tessera::workload::dataflow {
namespace {

constexpr std::array<const char*, 4> names_of_sides{"batch", "m", "n", "k"};

std::string text_of(const Order& order) {
  std::string text;
  for (const Side side : order) text += (text.empty() ? "" : " ") + std::string(names_of_sides[side]);
  return text;
}

/// B that go each way.
struct Moved {
  std::int64_t read = 0, written = 0;
};
Moved moved(const Product& product, const Accesses& accesses) {
  return {std::llround(bytes_read(product, accesses)), std::llround(bytes_written(product, accesses))};
}

class Listing {
 public:
  explicit Listing(const machine::ArraySpec& array) : array_(array) {}

  void add(const Listed& row) {
    const Operator& op = *row.op;
    name.push_back(op.name);
    kind.emplace_back(name_of(op.kind));
    for (std::size_t side = 0; side < 4; ++side) sides[side].push_back(Sides{op.batch, op.m, op.n, op.k}[side]);
    taken.push_back(row.is_taken ? 1 : 0);
    operands.push_back(op.bytes_read + op.bytes_written);
    time.push_back(row.time);
    least.push_back(row.least);
    if (row.of == nullptr) {
      add_stream(op);
    } else {
      add_nest(op, *row.of);
    }
  }

  [[nodiscard]] DataTable table() const {
    DataTable all{"dataflow", "An operator in a dataflow that it can have; of each the fastest nest of loops.", {}};
    all.text("operator", "its name", name).text("kind", "what it computes", kind);
    for (std::size_t side = 0; side < 4; ++side)
      all.integer(names_of_sides[side], "1", "of its products (m x k) (k x n)", sides[side]);
    all.text("dataflow", "empty: it streams through the memory", dataflow)
        .index("taken", "1: the fastest of its dataflows, whose time counts", taken)
        .text("order", "of the loops over tiles, the outermost first", order)
        .text("along_rows", "side that the cores of a column share out", rows)
        .text("along_columns", "side that the cores of a row share out", columns)
        .integer("tile_m", "1", "of a core; of row-stationary: rows of the output", tile[of_m])
        .integer("tile_n", "1", "of a core", tile[of_n])
        .integer("tile_k", "1", "of a core; of row-stationary: channels", tile[of_k])
        .integer("time_ps", "ps", "that it takes", time)
        .integer("least_ps", "ps", "that peak and memory bandwidth allow at best", least)
        .integer("operand_bytes", "B", "operands and results, each once", operands)
        .integer("read_bytes", "B", "read from the device's memory, counted in the nest", read)
        .integer("written_bytes", "B", "written to it, counted in the nest", written)
        .integer("sum_bytes", "B", "of both, partial sums", sums)
        .integer("formula_read_bytes", "B", "the same in closed form", formula_read)
        .integer("formula_written_bytes", "B", "the same in closed form", formula_written);
    return all;
  }

 private:
  void add_nest(const Operator& op, const Answer::Of& of) {
    const Dataflow& kind_of_flow = dataflows()[of.dataflow];
    const Product product = kind_of_flow.product(op);
    const auto& [mapping, timed] = of.found;
    dataflow.push_back(kind_of_flow.name);
    order.push_back(text_of(mapping.order));
    rows.emplace_back(names_of_sides[mapping.spread.along_rows]);
    columns.emplace_back(names_of_sides[mapping.spread.along_columns]);
    for (std::size_t side = 0; side < 4; ++side) tile[side].push_back(mapping.tile[side]);
    sums.push_back(sum_bytes * (timed.accesses.sums_read + timed.accesses.sums_written));
    add_bytes(moved(product, timed.accesses), moved(product, closed_form(product, nest_of(product, mapping, array_))));
  }

  void add_stream(const Operator& op) {
    for (std::vector<std::string>* one : {&dataflow, &order, &rows, &columns}) one->emplace_back();
    for (std::vector<std::int64_t>& one : tile) one.push_back(0);
    sums.push_back(0);
    const Moved both{op.bytes_read, op.bytes_written};
    add_bytes(both, both);
  }

  void add_bytes(const Moved& counted, const Moved& formula) {
    read.push_back(counted.read);
    written.push_back(counted.written);
    formula_read.push_back(formula.read);
    formula_written.push_back(formula.written);
  }

  const machine::ArraySpec& array_;
  std::vector<std::string> name, kind, dataflow, order, rows, columns;
  std::array<std::vector<std::int64_t>, 4> sides, tile;
  std::vector<std::int32_t> taken;
  std::vector<std::int64_t> time, least, operands, read, written, sums, formula_read, formula_written;
};

}  // namespace

DataTable listing(const std::vector<Listed>& rows, const machine::ArraySpec& array) {
  Listing all(array);
  for (const Listed& row : rows) all.add(row);
  return all.table();
}

}  // namespace tessera::workload::dataflow
