// /points, /axes and /provenance of a table of many runs.
#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "../big_table.hpp"
#include "../h5/file.hpp"
#include "../small_tables.hpp"
#include "../tables.hpp"
#include "../whole_file.hpp"
#include "tessera/base/error.hpp"
#include "tessera/results/points.hpp"

namespace tessera::results {
namespace {

using Row = std::vector<PointCell>;

bool fits(const PointCell& cell, PointKind kind) {
  if (std::holds_alternative<std::monostate>(cell)) return true;
  if (std::holds_alternative<std::string>(cell)) return kind == PointKind::text;
  return kind == PointKind::number || (kind == PointKind::integer && std::holds_alternative<std::int64_t>(cell));
}

void check_rows_of(const PointsTable& table) {
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Row& row = table.rows[i];
    const auto refuse = [&](const std::string& what) {
      throw InternalError("row " + std::to_string(i) + " of a table of points has " + what);
    };
    if (row.size() != table.columns.size())
      refuse(std::to_string(row.size()) + " cells, of " + std::to_string(table.columns.size()) + " columns");
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (!fits(row[c], table.columns[c].kind))
        refuse("a cell of another kind in column '" + table.columns[c].name + "'");
    }
  }
}

void check_table(const PointsTable& table) {
  std::set<std::string> names;
  for (const PointColumn& column : table.columns) {
    if (!names.insert(column.name).second)
      throw InternalError("a table of points has two columns '" + column.name + "'");
  }
  for (const PointAxis& axis : table.axes) {
    if (!names.contains(axis.column))
      throw InternalError("an axis of a table of points is column '" + axis.column + "', which it does not have");
  }
  if (names.empty()) throw InternalError("a table of points has no column");
  check_rows_of(table);
}

std::string_view text_in(const PointCell& cell) {
  const std::string* text = std::get_if<std::string>(&cell);
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

double number_in(const PointCell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  const double* number = std::get_if<double>(&cell);
  return number == nullptr ? std::numeric_limits<double>::quiet_NaN() : *number;
}

Table<Row> points_table(const PointsTable& points) {
  Table<Row> table("/points", "One row a point: what it sets, what became of it, and what its run says.");
  for (std::size_t c = 0; c < points.columns.size(); ++c) {
    const PointColumn& column = points.columns[c];
    if (column.kind == PointKind::integer) {
      table.integer(column.name, column.units, column.description, [c](const Row& row) {
        const auto* value = std::get_if<std::int64_t>(&row[c]);
        return value == nullptr ? 0 : *value;
      });
    } else if (column.kind == PointKind::number) {
      table.number(column.name, column.units, column.description, [c](const Row& row) { return number_in(row[c]); });
    } else {
      std::size_t width = 1;
      for (const Row& row : points.rows) width = std::max(width, text_in(row[c]).size());
      table.text(column.name, column.description, width, [c](const Row& row) { return text_in(row[c]); });
    }
  }
  return table;
}

BigTable rows_of(const PointsTable& points) {
  const auto count = static_cast<std::int64_t>(points.rows.size());
  const Table<Row> table = points_table(points);
  BigTable big{table.schema(), {count, count, {{0, count}}}, {}};
  big.pack = [table, &points](std::int64_t first, std::int64_t n, std::byte* to) {
    for (std::int64_t i = first; i < first + n; ++i, to += table.schema().row_bytes)
      table.pack(points.rows[static_cast<std::size_t>(i)], to);
  };
  return big;
}

std::size_t longest_of(const std::vector<PointAxis>& axes, std::string PointAxis::*member) {
  std::size_t width = 1;
  for (const PointAxis& axis : axes) width = std::max(width, (axis.*member).size());
  return width;
}

Table<PointAxis> axes_table(const std::vector<PointAxis>& axes) {
  Table<PointAxis> table("/axes", "One row a column of /points whose values were chosen.");
  table
      .text("column", "of /points", longest_of(axes, &PointAxis::column),
            [](const PointAxis& axis) -> std::string_view { return axis.column; })
      .text("key", "the parameter of the experiment that it varies", longest_of(axes, &PointAxis::key),
            [](const PointAxis& axis) -> std::string_view { return axis.key; })
      .index("follows", "1: its values follow from those of other axes",
             [](const PointAxis& axis) { return axis.follows ? 1 : 0; });
  return table;
}

void fill(h5::File& file, const PointsTable& table) {
  file.attribute("/", "format", points_format_name);
  file.attribute("/", "schema_version", schema_version);
  file.attribute("/", "title", table.title);
  file.attribute("/", "description",
                 "Many runs of Tessera, one row a point. Times are picoseconds, sizes bytes; see docs/results.md.");
  add_small_table(file, axes_table(table.axes), table.axes);
  file.group("/provenance", "How the table came about.");
  for (const PointsText& text : table.provenance)
    add_text(file, "/provenance/" + text.name, text.value, text.description);
}

}  // namespace

void write_points(const std::string& path, const PointsTable& table, const Replacing& replacing) {
  check_table(table);
  write_whole_file(
      path, {rows_of(table)}, [&](h5::File& file) { fill(file, table); }, replacing);
}

}  // namespace tessera::results
