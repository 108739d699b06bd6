// The [model] table of a resolved experiment: what a file says, or the graph that a network, or several of them side by
// side, stand for.
#include <fmt/format.h>

#include <algorithm>

#include "foreign_files.hpp"
#include "tessera/workload/graph_file.hpp"
#include "tessera/workload/model.hpp"
#include "tessera/workload/network.hpp"
#include "tree.hpp"

namespace tessera::experiment {
namespace {

using config::Table;
using config::Value;
using Named = std::vector<std::pair<std::string, workload::Graph>>;

constexpr const char* list_key = "side_by_side";

/// What FLOAT counts as: `datatype` beside the key that names the file, which has no such key of its own.
std::string floats_of_onnx(Table& naming, config::Diagnostics& diagnostics) {
  const Value* found = naming.find("datatype");
  if (found == nullptr) return "fp32";
  const Value value = *found;
  naming.erase("datatype");
  const std::vector<std::string>& known = workload::datatype_names();
  if (value.string() == nullptr)
    diagnostics.error(value.where(), fmt::format("\"datatype\": {} is not allowed here, expected one of {}",
                                                 value.type_name(), config::listed(known)));
  else if (std::ranges::find(known, *value.string()) == known.end())
    diagnostics.error(value.where(), config::unknown("datatype", *value.string(), known));
  else
    return *value.string();
  return "fp32";
}

/// Sizes of dimensions that the file knows by name: `dimensions = { N = 1 }` beside the same key.
std::vector<workload::NamedDimension> dimensions_of_onnx(Table& naming, config::Diagnostics& diagnostics) {
  const Value* found = naming.find("dimensions");
  if (found == nullptr) return {};
  const Value value = *found;
  naming.erase("dimensions");
  constexpr const char* allowed = "expected sizes of dimensions by their names, such as { N = 1 }";
  if (value.table() == nullptr) {
    diagnostics.error(value.where(),
                      fmt::format("\"dimensions\": {} is not allowed here, {}", value.type_name(), allowed));
    return {};
  }
  constexpr std::int64_t most = 1'000'000'000;
  std::vector<workload::NamedDimension> dimensions;
  for (const auto& [name, size] : value.table()->entries()) {
    const auto* number = std::get_if<std::int64_t>(&size.content());
    if (number != nullptr && *number >= 1 && *number <= most)
      dimensions.push_back({name, *number, size.key_where()});
    else
      diagnostics.error(size.where(),
                        fmt::format("\"dimensions.{}\": expected a whole number from 1 to {}", name, most));
  }
  return dimensions;
}

bool stands_side_by_side(const Table& model) { return model.find(list_key) != nullptr; }

/// The names; empty after an error.
config::Array names_in(const Table& model, config::Diagnostics& diagnostics) {
  const Value& list = *model.find(list_key);
  for (const auto& [key, value] : model.entries()) {
    if (key == list_key) continue;
    diagnostics.error(value.key_where(),
                      fmt::format("\"{}\" beside \"{}\": a network's own keys stand in its file", key, list_key));
    return {};
  }
  const config::Array* names = list.array();
  if (names == nullptr || names->size() < 2) {
    diagnostics.error(list.where(), fmt::format("\"{}\": expected a list of at least two names of networks", list_key));
    return {};
  }
  return *names;
}

/// As it is called in names of nodes: of a path its last part, of what stands there several times the later ones with a
/// number.
std::string prefix_of(const std::string& name, const Named& before) {
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".toml") || name.ends_with(".json") ||
                       name.ends_with(".onnx");
  const std::string own = is_path ? std::filesystem::path(name).stem().string() : name;
  const auto is_taken = [&](const std::string& prefix) {
    return std::ranges::any_of(before, [&](const auto& one) { return one.first == prefix; });
  };
  std::string prefix = own;
  for (int number = 2; is_taken(prefix); ++number) prefix = fmt::format("{}:{}", own, number);
  return prefix;
}

/// Of one of the list, by its name; of no use after an error.
workload::Graph graph_of(const Value& name, const SearchPath& search, config::Diagnostics& diagnostics) {
  const auto table = model_with_files(name, search, diagnostics);
  if (table == nullptr) return {};
  const auto refuse = [&](const char* what) {
    diagnostics.error(name.where(), fmt::format("\"{}\" {}", *name.string(), what));
    return workload::Graph{};
  };
  if (stands_side_by_side(*table)) return refuse("stands for networks side by side itself, allowed: single ones");
  if (workload::is_network(*table)) return workload::read_network(*table, diagnostics);
  const Value* graph = table->find("graph");
  if (graph == nullptr || graph->table() == nullptr)
    return refuse("is a transformer, allowed side by side: computation graphs");
  return workload::read_graph(*graph->table(), diagnostics);
}

/// The union of all of the list; null after an error.
std::shared_ptr<Table> side_by_side_as_graph(const Table& model, const SearchPath& search,
                                             config::Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors().size();
  Named graphs;
  for (const Value& name : names_in(model, diagnostics)) {
    if (name.string() == nullptr) {
      diagnostics.error(name.where(), fmt::format("\"{}\": {} is not allowed here, expected the name of a network",
                                                  list_key, name.type_name()));
      continue;
    }
    workload::Graph graph = graph_of(name, search, diagnostics);
    graphs.emplace_back(prefix_of(*name.string(), graphs), std::move(graph));
  }
  if (diagnostics.errors().size() != before) return nullptr;
  const config::Location where = model.find(list_key)->where();
  auto table = std::make_shared<Table>(where);
  table->set("graph", {workload::graph_table(workload::side_by_side(graphs), where), where});
  return table;
}

}  // namespace

std::shared_ptr<Table> parse_model(const std::string& text, const std::string& file, Table& naming,
                                   config::Diagnostics& diagnostics) {
  if (refuse_foreign_file(text, file, "a model", diagnostics)) return nullptr;
  config::Diagnostics own;
  std::shared_ptr<Table> table;
  if (workload::lists_nodes(text, file)) {
    workload::OnnxKeys keys;
    if (file.ends_with(".onnx")) keys = {floats_of_onnx(naming, own), dimensions_of_onnx(naming, own)};
    const auto graph = own.ok() ? workload::read_graph_table(text, file, own, keys) : nullptr;
    table = std::make_shared<Table>(config::Location{file, 1, 1});
    if (graph != nullptr) table->set("graph", {graph, table->where()});
  } else if (file.ends_with(".json")) {
    table = workload::read_hugging_face_table(text, file, own, &naming);
  } else {
    table = config::parse_toml(text, file, own);
  }
  const bool usable = own.ok();
  diagnostics.add(own);
  return usable ? table : nullptr;
}

void inline_model(Table& root, const SearchPath& search, config::Diagnostics& diagnostics) {
  const Value* found = root.find("model");
  if (found == nullptr) return;
  const Value value = *found;
  auto table = model_with_files(value, search, diagnostics);
  if (table != nullptr && stands_side_by_side(*table)) table = side_by_side_as_graph(*table, search, diagnostics);
  if (table != nullptr && workload::is_network(*table)) table = workload::network_as_graph(*table, diagnostics);
  if (table == nullptr)
    root.erase("model");
  else
    root.set("model", {std::move(table), value.where(), value.key_where()});
}

}  // namespace tessera::experiment
