#include <fmt/format.h>

#include "tessera/results/points.hpp"

namespace tessera::results {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result(1, '"');
  for (const char c : text) result.append(c == '"' ? 2 : 1, c);
  result.push_back('"');
  return result;
}

std::string field(const PointCell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return quoted(*text);
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);  // the shortest that is exact
  return {};
}

}  // namespace

std::string to_csv(const PointsTable& table) {
  std::string text;
  const auto add = [&](bool first, const std::string& value) {
    if (!first) text.push_back(',');
    text.append(value);
  };
  for (std::size_t i = 0; i < table.columns.size(); ++i) add(i == 0, quoted(table.columns[i].name));
  text.append("\r\n");
  for (const std::vector<PointCell>& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) add(i == 0, field(row[i]));
    text.append("\r\n");
  }
  return text;
}

}  // namespace tessera::results
