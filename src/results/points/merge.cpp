// Rows of sweeps as one table: which columns there are, what they are called, and which row of a point counts.
#include <fmt/format.h>

#include <map>

#include "../tables.hpp"
#include "columns.hpp"
#include "tessera/base/error.hpp"
#include "tessera/results/sweep_folder.hpp"

namespace tessera::results {
namespace {

struct Folder {
  std::string path;
  SweepHead head;
};

void check_schema(const Folder& folder) {
  const std::int64_t schema = folder.head.results_schema;
  if (schema >= oldest_schema_version && schema <= schema_version) return;
  throw InputError(fmt::format("'{}' has results of schema {}, this program merges {} to {}", folder.path, schema,
                               oldest_schema_version, schema_version));
}

/// Against the first.
void check_same(const Folder& first, const Folder& other) {
  const auto refuse = [&](const std::string& what, const std::string& own, const std::string& others) {
    throw InputError(fmt::format("'{}' has {} {}, '{}' has {}: merge what belongs together", first.path, what, own,
                                 other.path, others));
  };
  const SweepHead &a = first.head, &b = other.head;
  if (a.identity != b.identity) {
    throw InputError(fmt::format("'{}' and '{}' are of different sweeps (\"{}\", {} and \"{}\", {})", first.path,
                                 other.path, a.title, a.identity, b.title, b.identity));
  }
  if (a.version != b.version) refuse("points of version", a.version, b.version);
  if (a.results_schema != b.results_schema)
    refuse("results of schema", std::to_string(a.results_schema), std::to_string(b.results_schema));
  if (a.points != b.points || a.axes != b.axes)
    throw InputError(fmt::format("'{}' and '{}' say differently what their sweep is", first.path, other.path));
}

std::vector<Folder> read_heads(const std::vector<std::string>& paths) {
  std::vector<Folder> folders;
  for (const std::string& path : paths) {
    folders.push_back({path, read_head(path)});
    check_schema(folders.back());
    check_same(folders.front(), folders.back());
  }
  if (folders.empty()) throw InputError("there is nothing to merge: no folder of a sweep is named");
  return folders;
}

SweepRows rows_of(const std::vector<Folder>& folders) {
  std::map<std::int64_t, SweepRow> of_point;
  SweepRows all;
  for (const Folder& folder : folders) {
    SweepRows own = read_rows(folder.path, folder.head);
    all.damaged.insert(all.damaged.end(), own.damaged.begin(), own.damaged.end());
    for (SweepRow& row : own.rows) {
      const auto found = of_point.find(row.point);
      if (found != of_point.end() && found->second.code == 0 && row.code != 0) continue;
      of_point.insert_or_assign(row.point, std::move(row));
    }
  }
  for (auto& [point, row] : of_point) all.rows.push_back(std::move(row));
  return all;
}

std::vector<std::int64_t> missing_of(const std::vector<SweepRow>& rows, std::int64_t points) {
  std::vector<std::int64_t> missing;
  std::int64_t next = 0;
  for (const SweepRow& row : rows) {
    for (; next < row.point; ++next) missing.push_back(next);
    next = row.point + 1;
  }
  for (; next < points; ++next) missing.push_back(next);
  return missing;
}

std::string in_quotes(const std::vector<Folder>& folders) {
  std::vector<std::string> names;
  for (const Folder& folder : folders) names.push_back(fmt::format("'{}'", folder.path));
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string number_ranges(const std::vector<std::int64_t>& numbers) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    const std::int64_t last = numbers[end - 1];
    // Two that follow each other are read sooner as two.
    parts.push_back(end - i > 2 ? fmt::format("{}-{}", numbers[i], last) : std::to_string(numbers[i]));
    if (end - i == 2) parts.push_back(std::to_string(last));
    i = end;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

Merged merge(const std::vector<std::string>& paths) {
  const std::vector<Folder> folders = read_heads(paths);
  const SweepRows read = rows_of(folders);
  const SweepHead& head = folders.front().head;
  if (read.rows.empty())
    throw InputError(fmt::format("there is nothing to merge: no point of {} is done{}{}", in_quotes(folders),
                                 read.damaged.empty() ? "" : ", ", damage_text(read.damaged)));
  Merged merged{table_of(head, read.rows), missing_of(read.rows, head.points), read.damaged, {}};
  for (const Folder& folder : folders)
    if (!folder.head.has_checksums) merged.unchecked.push_back(folder.path);
  merged.table.provenance = {{"sweep_given", read_given(folders.front().path), "The sweep file as it was given."},
                             {"sweep", to_json(head), "What the sweep is: sweep.json of its folder."},
                             {"version", head.version, "Version of Tessera that simulated the points."}};
  return merged;
}

}  // namespace tessera::results
