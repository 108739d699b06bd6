#include "data_tables.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "small_tables.hpp"
#include "tessera/base/error.hpp"
#include "tessera/results/results.hpp"

namespace tessera::results {
namespace {

/// What files of any kind have in their roots of themselves (docs/results.md).
constexpr std::array own_names{"summary",     "devices",         "links",          "memory",
                               "collectives", "timeline",        "kernels",        "plan",
                               "search",      "phases",          "predicted",      "names",
                               "provenance",  "points",          "axes",           "notes",
                               "tensors",     "memory_timeline", "memory_traffic", "memory_traffic_timeline"};

bool is_own(const std::string& name) { return std::ranges::find(own_names, name) != own_names.end(); }

/// Its rows are numbers of rows: the values stand in columns.
Table<std::size_t> file_table(const DataTable& data) {
  Table<std::size_t> table("/" + data.name, data.description);
  for (const DataTable::Column& column : data.columns) {
    const auto add = [&](const auto& values) {
      using Values = std::decay_t<decltype(values)>;
      const auto get = [&values](std::size_t row) { return values[row]; };
      if constexpr (std::is_same_v<Values, std::vector<std::string>>)
        table.text(column.name, column.description, longest(values),
                   [&values](std::size_t row) -> std::string_view { return values[row]; });
      else if constexpr (std::is_same_v<Values, std::vector<double>>)
        table.number(column.name, column.unit, column.description, get);
      else if constexpr (std::is_same_v<Values, std::vector<std::int64_t>>)
        table.integer(column.name, column.unit, column.description, get);
      else
        table.index(column.name, column.description, get);
    };
    std::visit(add, column.values);
  }
  return table;
}

DataTable::Values values_in(const h5::Rows& rows, std::size_t column) {
  const auto all = [&](auto get) {
    std::vector<decltype(get(0))> values;
    values.reserve(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) values.push_back(get(i));
    return values;
  };
  switch (rows.columns()[column].type) {
    case ColumnType::text:
      return all([&](std::size_t i) { return rows.text(i, column); });
    case ColumnType::float64:
      return all([&](std::size_t i) { return rows.number(i, column); });
    default:
      return all([&](std::size_t i) { return rows.integer(i, column); });
  }
}

}  // namespace

void check_tables(const std::vector<DataTable>& tables) {
  std::set<std::string> names;
  for (const DataTable& table : tables) {
    std::string problem = problem_of(table);
    if (problem.empty() && is_own(table.name))
      problem = "a table cannot be called \"" + table.name + "\": results have one";
    if (problem.empty() && !names.insert(table.name).second) problem = "two tables are called \"" + table.name + "\"";
    if (!problem.empty()) throw InternalError(problem);
  }
}

void add_data_tables(h5::File& file, const std::vector<DataTable>& tables) {
  for (const DataTable& data : tables) {
    std::vector<std::size_t> rows(data.rows());
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    add_small_table(file, file_table(data), rows);
  }
}

std::vector<std::string> data_tables_of(const h5::Reader& file) {
  std::vector<std::string> names;
  for (const std::string& path : file.tables()) {
    const std::string name = path.substr(1);  // those of groups have another slash
    if (name.find('/') == std::string::npos && !is_own(name)) names.push_back(name);
  }
  return names;
}

DataTable read_data_table(const h5::Reader& file, const std::string& name) {
  const std::string path = "/" + name;
  h5::Reader::Texts texts = file.texts(path);
  const h5::Rows rows = file.read(path);
  DataTable table{name, std::move(texts.description), {}};
  for (std::size_t i = 0; i < rows.columns().size(); ++i)
    table.columns.push_back(
        {rows.columns()[i].name, std::move(texts.units[i]), std::move(texts.descriptions[i]), values_in(rows, i)});
  return table;
}

}  // namespace tessera::results
