#include <map>

#include "../tables.hpp"
#include "columns.hpp"

namespace tessera::results {
namespace {

/// Names in the order in which rows first have them. `names_of` calls what it is given with each name of a digest.
std::vector<std::string> names_in(
    const std::vector<SweepRow>& rows,
    const std::function<void(const Digest&, const std::function<void(const std::string&)>&)>& names_of) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const SweepRow& row : rows) {
    if (!row.digest) continue;
    names_of(*row.digest, [&](const std::string& name) {
      if (seen.insert(name).second) names.push_back(name);
    });
  }
  return names;
}

std::vector<Source> result_columns() {
  return {{{"code", "1", "exit code: 0 done, 2 refused, 3 cannot be carried out, 4 or 5 failed", PointKind::integer},
           [](const SweepRow& row) -> PointCell { return std::int64_t{row.code}; }},
          {{"message", "text", "why it is not done", PointKind::text},
           [](const SweepRow& row) -> PointCell { return row.message; }}};
}

PointColumn as_point_column(const Column& column) {
  const PointKind kind = column.type == ColumnType::text      ? PointKind::text
                         : column.type == ColumnType::float64 ? PointKind::number
                                                              : PointKind::integer;
  return {column.name, column.unit, column.description, kind};
}

/// Columns of /summary that are the same in every run: those of a run without activities; of one that served a batch
/// also that.
std::vector<PointColumn> fixed_columns(bool is_served) {
  RunResults none;
  if (is_served) none.served.emplace();
  const Table<SummaryRow> table = summary_table(none);
  std::vector<PointColumn> columns;
  for (const Column& column : table.schema().columns) columns.push_back(as_point_column(column));
  return columns;
}

/// mean_<activity>_ps or max_<activity>_ps.
PointColumn activity_column_of(const std::string& name) {
  const bool mean = name.starts_with("mean_");
  std::string activity = name.starts_with("max_") || mean ? name.substr(name.find('_') + 1) : name;
  if (activity.ends_with("_ps")) activity.resize(activity.size() - 3);
  return {name, "ps",
          "time of " + activity + (mean ? ", mean of the devices, rounded" : ", device with the most of it"),
          PointKind::integer};
}

std::vector<Source> summary_columns(const std::vector<SweepRow>& rows) {
  std::map<std::string, PointColumn> fixed;
  for (const PointColumn& column : fixed_columns(true)) fixed.emplace(column.name, column);
  std::vector<std::string> names = names_in(rows, [](const Digest& digest, const auto& add) {
    for (const auto& [name, value] : digest.summary) add(name);
  });
  // A sweep of which no point is done has its columns nevertheless.
  if (names.empty()) {
    for (const PointColumn& column : fixed_columns(false)) names.push_back(column.name);
  }
  std::vector<Source> sources;
  for (const std::string& name : names) {
    const auto found = fixed.find(name);
    sources.push_back({found == fixed.end() ? activity_column_of(name) : found->second, [name](const SweepRow& row) {
                         return row.digest ? value_in(row.digest->summary, name) : PointCell{};
                       }});
  }
  return sources;
}

PointCell use_of(const SweepRow& row, const std::string& name, double Digest::LinkClass::*which) {
  if (!row.digest) return {};
  for (const Digest::LinkClass& link : row.digest->links) {
    if (link.name == name) return link.*which;
  }
  return {};
}

std::vector<Source> link_columns(const std::vector<SweepRow>& rows) {
  using LinkClass = Digest::LinkClass;
  std::vector<Source> sources;
  for (const std::string& name : names_in(rows, [](const Digest&digest, const auto&add) {
         for (const LinkClass& link : digest.links) add(link.name);
       })) {
    const std::string column = "link_" + identifier(name);
    sources.push_back(
        {{column + "_mean_use", "1",
          "share of the iteration in which links of class " + name + " were sending, mean of them", PointKind::number},
         [=](const SweepRow& row) { return use_of(row, name, &LinkClass::mean_use); }});
    sources.push_back({{column + "_peak_use", "1", "the same of the one of class " + name + " that sent the longest",
                        PointKind::number},
                       [=](const SweepRow& row) { return use_of(row, name, &LinkClass::peak_use); }});
  }
  return sources;
}

PointCell held_in(const SweepRow& row, const std::string& category) {
  if (!row.digest) return {};
  for (const auto& [name, held] : row.digest->memory) {
    if (name == category) return held;
  }
  return std::int64_t{0};
}

std::vector<Source> memory_columns(const std::vector<SweepRow>& rows) {
  std::vector<Source> sources;
  for (const std::string& name : names_in(rows, [](const Digest&digest, const auto&add) {
         for (const auto& [category, held] : digest.memory) add(category);
       })) {
    sources.push_back({{"memory_" + identifier(name), "B",
                        "held in " + name + " by the fullest device when it held the most", PointKind::integer},
                       [name](const SweepRow& row) { return held_in(row, name); }});
  }
  return sources;
}

}  // namespace

std::vector<Source> outcome_columns(const std::vector<SweepRow>& rows) {
  std::vector<Source> sources;
  for (std::vector<Source>& part : std::vector<std::vector<Source>>{result_columns(), summary_columns(rows),
                                                                    link_columns(rows), memory_columns(rows)}) {
    for (Source& source : part) sources.push_back(std::move(source));
  }
  return sources;
}

}  // namespace tessera::results
