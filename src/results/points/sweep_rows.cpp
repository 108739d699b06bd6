// sweep.json and the lines of rows/*.jsonl: as they are written, and as they are read.
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tessera/base/error.hpp"
#include "tessera/results/sweep_folder.hpp"

namespace tessera::results {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int head_schema = 1;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json json_of(const PointCell& cell) {
  return std::visit(
      [](const auto& value) -> Json {
        if constexpr (std::is_same_v<std::decay_t<decltype(value)>, std::monostate>)
          return nullptr;
        else
          return value;
      },
      cell);
}

/// Truth values, lists and tables come as their text. Numbers that are not finite have none in JSON: null.
PointCell cell_of(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return json.get<double>();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return text_of(json);
}

std::vector<std::pair<std::string, PointCell>> cells_of(const Json& object) {
  std::vector<std::pair<std::string, PointCell>> cells;
  for (const auto& [key, value] : object.items()) cells.emplace_back(key, cell_of(value));
  return cells;
}

Json object_of(const std::vector<std::pair<std::string, PointCell>>& cells) {
  Json object = Json::object();
  for (const auto& [key, value] : cells) object[key] = json_of(value);
  return object;
}

Digest digest_of(const Json& row) {
  Digest digest;
  digest.summary = cells_of(row.at("summary"));
  if (row.contains("links")) {
    for (const auto& [name, use] : row.at("links").items())
      digest.links.push_back({name, use.at("mean_use").get<double>(), use.at("peak_use").get<double>()});
  }
  if (row.contains("memory")) {
    for (const auto& [category, held] : row.at("memory").items())
      digest.memory.emplace_back(category, held.get<std::int64_t>());
  }
  return digest;
}

SweepRow row_of(const Json& json) {
  SweepRow row;
  row.point = json.at("point").get<std::int64_t>();
  row.name = json.value("name", "");
  row.identity = json.value("identity", "");
  row.version = json.at("version").get<std::string>();
  row.results_schema = json.at("results_schema").get<std::int64_t>();
  row.code = json.at("code").get<int>();
  row.message = json.value("message", "");
  if (json.contains("values")) row.values = cells_of(json.at("values"));
  if (row.code == 0) row.digest = digest_of(json);
  return row;
}

std::string read_text(const fs::path& path) {
  const auto refuse = [&](const std::string& reason) {
    throw IoError("cannot read '" + path.string() + "': " + reason);
  };
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) refuse("it is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) refuse("it cannot be read to its end");
  return text.str();
}

/// None of a line that a kill has cut off, or that something else has damaged.
std::optional<SweepRow> parse_row(const std::string& line) {
  try {
    return row_of(Json::parse(line));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::vector<fs::path> row_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (fs::directory_iterator at(folder / "rows", failed), end; !failed && at != end; at.increment(failed)) {
    if (at->path().extension() == ".jsonl") files.push_back(at->path());
  }
  if (failed && failed != std::errc::no_such_file_or_directory)
    throw IoError("cannot read '" + (folder / "rows").string() + "': " + failed.message());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

std::string to_json(const SweepHead& head) {
  Json axes = Json::array();
  for (const SweepAxis& axis : head.axes) {
    Json one = {{"key", axis.key}, {"unit", axis.unit}};
    if (axis.set) one["set"] = true;
    axes.push_back(one);
  }
  return text_of({{"schema", head_schema},
                  {"identity", head.identity},
                  {"title", head.title},
                  {"version", head.version},
                  {"results_schema", head.results_schema},
                  {"points", head.points},
                  {"axes", axes}});
}

std::string to_json(const SweepRow& row) {
  Json json = {{"point", row.point},
               {"name", row.name},
               {"identity", row.identity},
               {"version", row.version},
               {"results_schema", row.results_schema},
               {"code", row.code},
               {"message", row.message},
               {"values", object_of(row.values)}};
  if (row.digest) {
    json["summary"] = object_of(row.digest->summary);
    json["links"] = Json::object();
    for (const Digest::LinkClass& link : row.digest->links)
      json["links"][link.name] = {{"mean_use", link.mean_use}, {"peak_use", link.peak_use}};
    json["memory"] = Json::object();
    for (const auto& [category, held] : row.digest->memory) json["memory"][category] = held;
  }
  return text_of(json);
}

SweepHead read_head(const std::string& folder) {
  const fs::path path = fs::path(folder) / "sweep.json";
  std::error_code ignored;
  if (fs::is_directory(folder, ignored) && !fs::exists(path, ignored))
    throw InputError("'" + folder + "' is not the folder of a sweep: there is no sweep.json in it");
  const std::string text = read_text(path);
  try {
    const Json json = Json::parse(text);
    if (const int schema = json.at("schema").get<int>(); schema != head_schema)
      throw InputError("'" + path.string() + "' has schema " + std::to_string(schema) + ", this program reads " +
                       std::to_string(head_schema));
    SweepHead head{json.at("identity").get<std::string>(), json.value("title", ""),
                   json.at("version").get<std::string>(),  json.at("results_schema").get<std::int64_t>(),
                   json.at("points").get<std::int64_t>(),  {}};
    for (const Json& axis : json.at("axes"))
      head.axes.push_back({axis.at("key").get<std::string>(), axis.value("unit", ""), axis.value("set", false)});
    return head;
  } catch (const Json::exception&) {
    throw InputError("'" + path.string() + "' is not the description of a sweep");
  }
}

std::string read_given(const std::string& folder) {
  const fs::path path = fs::path(folder) / "sweep.toml";
  std::error_code ignored;
  return fs::exists(path, ignored) ? read_text(path) : "";
}

std::vector<SweepRow> read_rows(const std::string& folder, const SweepHead& head) {
  std::map<std::int64_t, SweepRow> last;
  for (const fs::path& path : row_files(folder)) {
    std::istringstream lines(read_text(path));
    for (std::string line; std::getline(lines, line);) {
      std::optional<SweepRow> row = parse_row(line);
      if (!row || row->version != head.version || row->results_schema != head.results_schema) continue;
      if (row->point < 0 || row->point >= head.points) continue;
      last.insert_or_assign(row->point, std::move(*row));
    }
  }
  std::vector<SweepRow> rows;
  for (auto& [point, row] : last) rows.push_back(std::move(row));
  return rows;
}

}  // namespace tessera::results
