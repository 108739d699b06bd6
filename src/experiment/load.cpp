// From a file and settings to one resolved table.
#include "calibration.hpp"
#include "foreign_files.hpp"
#include "plan_file.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/machine/template.hpp"
#include "tessera/machine/topology.hpp"
#include "tessera/workload/graph_file.hpp"
#include "tree.hpp"

namespace tessera::experiment {
namespace {

using config::Table;
using config::Value;

/// The table under `key`, made when it is absent; null when something else stands there.
Table* child(Table& root, const std::string& key) {
  if (root.find(key) == nullptr) root.set(key, {std::make_shared<Table>(root.where()), root.where()});
  return root.find(key)->table();
}

/// Defaults of the kind that `table` names with `key`.
template <class Kinds>
void complete_named(Table& table, const std::string& key, const Kinds& kinds) {
  const Value* value = table.find(key);
  if (value == nullptr || value->string() == nullptr) return;
  const std::string name = *value->string();  // a copy: completing moves the table's values
  for (const auto& kind : kinds) {
    if (kind.name == name) kind.schema().complete(table);
  }
}

/// A transformer's dimensions, or a graph.
void complete_model(Table& model) {
  Value* graph = model.find("graph");
  if (graph == nullptr) return workload::model_schema().complete(model);
  if (graph->table() != nullptr) workload::graph_schema().complete(*graph->table());
}

}  // namespace

std::shared_ptr<Table> complete(const Table& root, const Parts& parts) {
  auto all = config::clone(root);
  head_schema().complete(*all);
  if (Value* machine = all->find("machine"); machine != nullptr && machine->table() != nullptr)
    machine::complete_machine(*machine->table(), parts.topologies);
  apply_calibration(*all);
  if (Value* model = all->find("model"); model != nullptr && model->table() != nullptr) complete_model(*model->table());
  if (Table* table = child(*all, "workload")) strategy::workload_schema().complete(*table);
  if (Value* table = all->find("strategy"); table != nullptr && table->table() != nullptr) {
    complete_named(*table->table(), "name", parts.strategies);
  }
  if (Table* cost = child(*all, "cost")) {
    if (cost->find("model") == nullptr) cost->set("model", {std::string("roofline"), cost->where()});
    complete_named(*cost, "model", workload::cost_model_kinds());
  }
  if (Table* table = child(*all, "collectives")) program::collective_choices_schema(parts.collectives).complete(*table);
  if (Table* table = child(*all, "record")) record_schema().complete(*table);
  if (Table* table = child(*all, "simulation")) simulation_schema().complete(*table);
  if (Value* table = all->find("training"); table != nullptr && table->table() != nullptr)
    training_schema().complete(*table->table());

  auto ordered = std::make_shared<Table>(all->where());
  for (const char* key : {"title", "machine", "model", "workload", "strategy", "cost", "collectives", "record",
                          "simulation", "training"}) {
    if (const Value* value = all->find(key)) ordered->set(key, *value);
  }
  for (const auto& [key, value] : all->entries()) {
    if (ordered->find(key) == nullptr) ordered->set(key, value);  // unknown: build() reports it
  }
  return ordered;
}

void expand_machine(Table& root, config::Diagnostics& diagnostics) {
  Value* machine = root.find("machine");
  if (machine != nullptr && machine->table() != nullptr) machine::expand_template(*machine->table(), diagnostics);
}

void name_untitled(Table& root, const std::string& path) {
  const Value* title = root.find("title");
  if (title != nullptr && (title->string() == nullptr || !title->string()->empty())) return;
  const config::Location where = title == nullptr ? root.where() : title->where();
  root.set("title", {std::filesystem::path(path).stem().string(), where});
}

std::shared_ptr<Table> read_experiment(const std::string& path, InputFiles& files, config::Diagnostics& diagnostics,
                                       std::string_view expected) {
  const auto text = files.read(path);
  if (!text) throw InputError(one_line(path) + ": there is no such file");
  if (refuse_foreign_file(*text, path, expected, diagnostics)) return std::make_shared<Table>();
  return config::parse_toml(*text, path, diagnostics);
}

Source load(const std::string& path, const std::vector<Setting>& settings,
            const std::vector<std::filesystem::path>& folders, config::Diagnostics& diagnostics,
            const std::string& plan_path, const Parts& parts) {
  InputFiles files;
  Source source;
  config::Diagnostics syntax;
  source.table = read_experiment(path, files, syntax);
  source.given = files.read(path).value_or("");
  diagnostics.add(syntax);
  if (!syntax.ok()) {
    source.table = std::make_shared<Table>();  // whatever else is wrong follows from it
    return source;
  }
  const std::shared_ptr<Table> plan = plan_path.empty() ? nullptr : read_plan(plan_path, diagnostics);
  if (plan != nullptr) {
    apply_plan(*source.table, *plan);
    source.given += "# --plan " + escaped(plan_path) + "\n";
  }
  for (const Setting& setting : settings) {
    apply(*source.table, setting, diagnostics);
    source.given += "# " + escaped(setting.origin + "=" + setting.value) + "\n";
  }
  const std::filesystem::path own = files.is_file(path) ? std::filesystem::path(path).parent_path() : "";
  inline_all(*source.table, {own, folders, files}, diagnostics);
  expand_machine(*source.table, diagnostics);
  name_untitled(*source.table, path);
  source.table = complete(*source.table, parts);
  source.files = attach(*source.table, parts.strategies, files, diagnostics);
  if (plan != nullptr) {
    check_plan_is_closed(*source.table, parts.strategies, diagnostics);
    check_plan_fits(*source.table, *plan, diagnostics);
  }
  return source;
}

}  // namespace tessera::experiment
