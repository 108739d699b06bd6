#include "parameters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "../tree.hpp"
#include "amounts.hpp"
#include "tessera/base/foreign_words.hpp"

namespace tessera::experiment::sweep {
namespace {

using config::ParameterHelp;
using config::Table;

Parameter to_parameter(const ParameterHelp& help) {
  using Sort = Parameter::Sort;
  for (const auto unit : {config::Unit::time, config::Unit::bytes, config::Unit::bandwidth, config::Unit::compute,
                          config::Unit::frequency, config::Unit::length, config::Unit::power}) {
    if (!help.unit.empty() && help.unit == name_of(unit)) return {Sort::quantity, unit};
  }
  for (const auto& [type, sort] : {std::pair{"whole number", Sort::whole}, std::pair{"number", Sort::number},
                                   std::pair{"boolean", Sort::boolean}}) {
    if (help.type == type || help.type.starts_with(std::string(type) + ",")) return {sort};  // a key that may be open
  }
  return {};
}

/// Names by which a table chooses a schema of its own: "ring" of [machine.topology] kind = "ring".
std::vector<std::string> chosen_in(const Table* table) {
  std::vector<std::string> names;
  for (const char* key : {"name", "kind", "model"}) {
    const config::Value* value = table == nullptr ? nullptr : table->find(key);
    if (value != nullptr && value->string() != nullptr) names.push_back(*value->string());
  }
  return names;
}

/// Parameters of the table at `path`; empty: no schema tells of it.
std::vector<ParameterHelp> parameters_at(const std::string& path, const Table* table, const Parts& parts) {
  std::vector<std::string> paths{path};
  for (const std::string& name : chosen_in(table)) paths.push_back(path + "." + name);
  std::vector<ParameterHelp> all;
  for (const config::SchemaPointer& schema : schemas(parts)) {
    if (std::ranges::find(paths, schema->path()) == paths.end()) continue;
    for (ParameterHelp& one : schema->parameters()) all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

std::optional<Parameter> find_parameter(const Table& resolved, const std::string& key, const Parts& parts,
                                        const config::Location& where, config::Diagnostics& diagnostics) {
  const Table* table = &resolved;
  std::string path = "experiment", prefix;
  Parameter found;
  for (const std::string& part : parts_of(key)) {
    const std::vector<ParameterHelp> known = parameters_at(path, table, parts);
    if (known.empty()) return Parameter{};  // whoever reads that table knows
    const auto one = std::ranges::find(known, part, &ParameterHelp::name);
    if (one == known.end()) {
      std::vector<std::string> names;
      for (const ParameterHelp& help : known) names.push_back(prefix + help.name);
      const std::string near = config::hint(prefix + part, names);
      diagnostics.error(where, near.empty() ? config::unknown("parameter", prefix + part, names)
                                            : "unknown parameter \"" + prefix + part + "\"" + near);
      return std::nullopt;
    }
    found = to_parameter(*one);
    const config::Value* value = table == nullptr ? nullptr : table->find(part);
    table = value == nullptr ? nullptr : value->table();
    path = path == "experiment" ? part : path + "." + part;
    prefix += part + ".";
  }
  return found;
}

}  // namespace tessera::experiment::sweep
