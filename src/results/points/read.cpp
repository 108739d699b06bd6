#include <algorithm>
#include <string_view>

#include "../h5/reader.hpp"
#include "../tables.hpp"
#include "tessera/results/points.hpp"

namespace tessera::results {
namespace {

PointKind kind_of(ColumnType type) {
  if (type == ColumnType::text) return PointKind::text;
  return type == ColumnType::float64 ? PointKind::number : PointKind::integer;
}

PointCell cell_of(const h5::Rows& rows, std::size_t row, std::size_t column) {
  switch (rows.columns()[column].type) {
    case ColumnType::text:
      return rows.text(row, column);
    case ColumnType::float64:
      return rows.number(row, column);
    default:
      return rows.integer(row, column);
  }
}

void read_rows(const h5::Rows& rows, const h5::Reader::Texts& texts, PointsTable& table) {
  for (std::size_t c = 0; c < rows.columns().size(); ++c) {
    const Column& column = rows.columns()[c];
    table.columns.push_back({column.name, texts.units[c], texts.descriptions[c], kind_of(column.type)});
  }
  table.rows.resize(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t c = 0; c < table.columns.size(); ++c) table.rows[i].push_back(cell_of(rows, i, c));
  }
}

void read_axes(const h5::Reader& file, PointsTable& table) {
  const h5::Rows axes = file.read("/axes");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    table.axes.push_back({axes.text(i, "column"), axes.text(i, "key"), axes.integer(i, "follows") != 0});
    const std::string& name = table.axes.back().column;
    const auto is_named = [&](const PointColumn& column) { return column.name == name; };
    if (std::ranges::none_of(table.columns, is_named)) axes.damaged("/points has no column '" + name + "'");
  }
}

void read_provenance(const h5::Reader& file, PointsTable& table) {
  constexpr std::string_view group = "/provenance/";
  for (const std::string& path : file.coverage().with) {
    if (!path.starts_with(group)) continue;
    const h5::Reader::Text text = file.text(path);
    table.provenance.push_back({path.substr(group.size()), text.value, text.description});
  }
}

}  // namespace

bool is_points(const std::string& path) { return h5::kind_of(path) == h5::FileKind::points; }

PointsTable read_points(const std::string& path, Checking checking) {
  const h5::Reader file(path, checking, h5::FileKind::points);
  PointsTable table;
  table.title = file.attribute("title");
  read_rows(file.read("/points"), file.texts("/points"), table);
  read_axes(file, table);
  read_provenance(file, table);
  return table;
}

}  // namespace tessera::results
