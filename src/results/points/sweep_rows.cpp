// sweep.json and the lines of rows/*.jsonl as JSON: as they are written, and as they are understood.
#include "sweep_rows.hpp"

#include <nlohmann/json.hpp>

#include "line_checksum.hpp"
#include "tessera/base/error.hpp"

namespace tessera::results {
namespace {

using Json = nlohmann::ordered_json;

// 1: rows and head have no checksums.
constexpr int oldest_head_schema = 1, head_schema = 2;

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

}  // namespace

std::string to_json(const SweepHead& head) {
  Json axes = Json::array();
  for (const SweepAxis& axis : head.axes) {
    Json one = {{"key", axis.key}, {"unit", axis.unit}};
    if (axis.set) one["set"] = true;
    axes.push_back(one);
  }
  const std::string text = text_of({{"schema", head.has_checksums ? head_schema : oldest_head_schema},
                                    {"identity", head.identity},
                                    {"title", head.title},
                                    {"version", head.version},
                                    {"results_schema", head.results_schema},
                                    {"points", head.points},
                                    {"axes", axes}});
  return head.has_checksums ? with_checksum(text) : text;
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
  return with_checksum(text_of(json));
}

std::optional<SweepRow> parse_row(const std::string& line) {
  try {
    return row_of(Json::parse(line));
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

SweepHead parse_head(const std::string& text, const std::string& path) {
  try {
    const Json json = Json::parse(text);
    const int schema = json.at("schema").get<int>();
    if (schema < oldest_head_schema || schema > head_schema)
      throw InputError("'" + path + "' has schema " + std::to_string(schema) + ", this program reads " +
                       std::to_string(oldest_head_schema) + " to " + std::to_string(head_schema));
    SweepHead head{json.at("identity").get<std::string>(),
                   json.value("title", ""),
                   json.at("version").get<std::string>(),
                   json.at("results_schema").get<std::int64_t>(),
                   json.at("points").get<std::int64_t>(),
                   {},
                   schema > oldest_head_schema};
    for (const Json& axis : json.at("axes"))
      head.axes.push_back({axis.at("key").get<std::string>(), axis.value("unit", ""), axis.value("set", false)});
    if (head.points >= 0) return head;
  } catch (const Json::exception&) {  // as for a number of points that is none
  }
  throw InputError("'" + path + "' is not the description of a sweep");
}

}  // namespace tessera::results
