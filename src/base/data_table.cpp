#include "tessera/base/data_table.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace tessera {
namespace {

bool is_name(const std::string& text) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::ranges::all_of(text, fits);
}

}  // namespace

DataTable::Values DataTable::none_of(std::size_t type) {
  switch (type) {
    case 0:
      return std::vector<std::int32_t>{};
    case 1:
      return std::vector<std::int64_t>{};
    case 2:
      return std::vector<double>{};
    default:
      return std::vector<std::string>{};
  }
}

std::string problem_of(const DataTable& table) {
  if (!is_name(table.name)) return "\"" + table.name + "\" is no name of a table: expected letters, digits and _";
  const std::string subject = "table \"" + table.name + "\" ";
  if (table.columns.empty()) return subject + "has no columns";
  std::set<std::string> names;
  for (const DataTable::Column& column : table.columns) {
    const std::string quoted = "\"" + column.name + "\"";
    if (!is_name(column.name)) return subject + "has a column " + quoted + ": expected letters, digits and _";
    if (!names.insert(column.name).second) return subject + "has two columns " + quoted;
    if (column.unit.empty()) return subject + "has a column " + quoted + " without a unit";
    if (column.size() != table.rows())
      return subject + "has " + std::to_string(table.rows()) + " rows, and " + std::to_string(column.size()) +
             " in column " + quoted;
  }
  return {};
}

}  // namespace tessera
