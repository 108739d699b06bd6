// Any table of a file as text: what tessera show --table prints.
#include <fmt/format.h>

#include <algorithm>

#include "data_tables.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/text.hpp"
#include "tessera/results/results.hpp"

namespace tessera::results {
namespace {

/// The cells of a column, its name and unit above them, all of one width.
std::vector<std::string> aligned(const DataTable::Column& column) {
  const bool is_plain = column.unit == "1" || column.unit == "text";
  std::vector<std::string> cells{column.name, is_plain ? "" : column.unit};
  const auto add = [&](const auto& values) {
    for (const auto& value : values) cells.push_back(one_line(fmt::format("{}", value)));
  };
  std::visit(add, column.values);
  std::size_t width = 0;
  for (const std::string& cell : cells) width = std::max(width, cell.size());
  const bool is_text = std::holds_alternative<std::vector<std::string>>(column.values);
  for (std::string& cell : cells)
    cell = is_text ? fmt::format("{:<{}}", cell, width) : fmt::format("{:>{}}", cell, width);
  return cells;
}

std::string line_of(const std::vector<std::vector<std::string>>& columns, std::size_t row) {
  std::string line;
  for (const auto& column : columns) line += "  " + column[row];
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

}  // namespace

std::string table_text(const std::string& path, const std::string& name, Checking checking) {
  const h5::Reader file(path, checking, h5::kind_of(path));
  std::vector<std::string> names = file.tables();
  for (std::string& one : names) one.erase(0, 1);  // the slash in front
  if (std::ranges::find(names, name) == names.end()) throw InputError(config::unknown("table", name, names));
  const DataTable table = read_data_table(file, name);
  std::vector<std::vector<std::string>> columns;
  for (const DataTable::Column& column : table.columns) columns.push_back(aligned(column));
  std::string text = printable(fmt::format("/{}, {} rows: {}\n", name, table.rows(), table.description));
  for (std::size_t row = 0; row < table.rows() + 2; ++row) text += line_of(columns, row);
  return text;
}

}  // namespace tessera::results
