#include "columns.hpp"

#include <fmt/format.h>

#include <cctype>

namespace tessera::results {
namespace {

std::vector<Source> identity_columns() {
  return {{{"point", "1", "number of the point in its sweep", PointKind::integer},
           [](const SweepRow& row) -> PointCell { return row.point; }},
          {{"name", "text", "what the point sets", PointKind::text},
           [](const SweepRow& row) -> PointCell { return row.name; }}};
}

/// A cell as its column holds it.
PointCell converted(const PointCell& cell, PointKind kind) {
  const auto* whole = std::get_if<std::int64_t>(&cell);
  const auto* number = std::get_if<double>(&cell);
  if (kind == PointKind::text && whole != nullptr) return std::to_string(*whole);
  if (kind == PointKind::text && number != nullptr) return fmt::format("{}", *number);
  if (kind == PointKind::number && whole != nullptr) return static_cast<double>(*whole);
  // A column of whole numbers has no other value than a row that somebody has made by hand.
  if (kind == PointKind::integer && whole == nullptr) return {};
  if (kind != PointKind::text && std::holds_alternative<std::string>(cell)) return {};
  return cell;
}

}  // namespace

std::string identifier(std::string_view text) {
  std::string name(text);
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

PointCell value_in(const std::vector<std::pair<std::string, PointCell>>& pairs, std::string_view name) {
  for (const auto& [key, value] : pairs) {
    if (key == name) return value;
  }
  return {};
}

PointsTable table_of(const SweepHead& head, const std::vector<SweepRow>& rows) {
  std::vector<Source> sources = identity_columns();
  std::vector<Source> outcome = outcome_columns(rows);
  std::set<std::string> taken;
  for (const Source& source : sources) taken.insert(source.column.name);
  for (Source& source : outcome) {
    // Two classes of links may differ in what no name of a column has.
    while (!taken.insert(source.column.name).second) source.column.name.push_back('_');
  }
  const std::vector<Source> axes = axis_columns(head, rows, taken);
  sources.insert(sources.end(), axes.begin(), axes.end());
  sources.insert(sources.end(), outcome.begin(), outcome.end());

  PointsTable table;
  table.title = head.title;
  for (const Source& source : sources) table.columns.push_back(source.column);
  for (std::size_t i = 0; i < axes.size(); ++i)
    table.axes.push_back({axes[i].column.name, head.axes[i].key, head.axes[i].set});
  for (const SweepRow& row : rows) {
    std::vector<PointCell>& cells = table.rows.emplace_back();
    for (const Source& source : sources) cells.push_back(converted(source.cell(row), source.column.kind));
  }
  return table;
}

}  // namespace tessera::results
