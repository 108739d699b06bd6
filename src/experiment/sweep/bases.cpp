#include "bases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::experiment::sweep {
namespace {

namespace fs = std::filesystem;
using config::Diagnostics;
using config::Table;
using config::Value;

constexpr std::size_t most_bases = 10'000;

/// The experiment, machine, model and recipe themselves, and the keys of theirs that name files.
bool chooses_files(const std::string& key) {
  if (key == experiment_axis) return true;
  const std::vector<std::string> parts = parts_of(key);
  if (!is_included(parts[0]) && parts[0] != "recipe") return false;
  return parts.size() == 1 || (parts.size() == 2 && (parts[1] == "include" || parts[1] == "hugging_face"));
}

/// machine = "name" as a table, over which others can come.
void open_names(Table& root) {
  for (const char* key : {"machine", "model"}) {
    Value* value = root.find(key);
    if (value == nullptr || value->string() == nullptr) continue;
    auto table = std::make_shared<Table>(value->where());
    table->set("include", *value);
    root.set(key, {std::move(table), value->where(), value->key_where()});
  }
}

/// Names are relative to the file that they stand in.
std::shared_ptr<Table> read_named(const Value& named, const std::string& path, InputFiles& files,
                                  Diagnostics& diagnostics) {
  if (named.string() == nullptr) {
    diagnostics.error(named.where(),
                      "\"experiment\": " + named.type_name() + " is not allowed here, expected the name of a file");
    return nullptr;
  }
  const fs::path file = fs::path(path).parent_path() / *named.string();
  if (!files.exists(file)) {
    diagnostics.error(named.where(), "there is no experiment file \"" + one_line(file.string()) + "\"");
    return nullptr;
  }
  Diagnostics syntax;
  auto experiment = read_experiment(file.string(), files, syntax);
  diagnostics.add(syntax);
  if (!syntax.ok()) return nullptr;
  name_untitled(*experiment, file.string());
  open_names(*experiment);
  return experiment;
}

/// An experiment that an axis gives: a file, or a table that may name one.
struct Given {
  std::optional<Value> file;
  const Table* over = nullptr;
};

Given given_by(const Value& value) {
  if (value.table() == nullptr) return {value, nullptr};
  const Value* file = value.table()->find(experiment_axis);
  return {file == nullptr ? std::nullopt : std::optional(*file), value.table()};
}

}  // namespace

SweepFile read_sweep_file(const std::string& path, InputFiles& files, Diagnostics& diagnostics) {
  SweepFile file;
  file.path = path;
  Diagnostics syntax;
  const auto root = read_experiment(path, files, syntax, "a sweep");
  diagnostics.add(syntax);
  if (!syntax.ok()) return file;
  const Value* sweep = root->find("sweep");
  if (sweep == nullptr || sweep->table() == nullptr) {
    diagnostics.error(sweep == nullptr ? root->where() : sweep->where(),
                      "a sweep is an experiment with a table [sweep], and this file has none");
    return file;
  }
  file.sweep = config::clone(*sweep->table());
  if (const Value* named = root->find("experiment")) file.experiment = *named;
  root->erase("sweep");
  root->erase("experiment");
  file.own = root;
  return file;
}

namespace {

/// Below the keys of a table, those that are there stay; an empty table takes the place of what is there.
void put_over(Table& root, const std::string& key, const Value& value, Diagnostics& diagnostics) {
  const Table* table = value.table();
  if (table == nullptr) return put(root, key, value, diagnostics);
  if (table->entries().empty())
    return put(root, key, {config::clone(*table), value.where(), value.key_where()}, diagnostics);
  for (const auto& [inner, one] : table->entries()) put_over(root, key + "." + inner, one, diagnostics);
}

}  // namespace

void put_value(Table& root, const std::string& key, const Value& value, Diagnostics& diagnostics) {
  if (value.table() == nullptr) return put(root, key, value, diagnostics);
  for (const auto& [inner, one] : value.table()->entries()) put_over(root, key + "." + inner, one, diagnostics);
}

Bases::Bases(const SweepFile& file, const Axes& axes, const SearchPath& search, const Parts& parts,
             Diagnostics& diagnostics)
    : axes_(&axes) {
  std::size_t count = 1;
  for (std::size_t i = 0; i < axes.axes.size(); ++i) {
    if (!chooses_files(axes.axes[i].key)) continue;
    including_.push_back(i);
    count *= axes.axes[i].values.size();
    if (count > most_bases) {
      diagnostics.error(axes.axes[i].where,
                        fmt::format("machines, models and recipes can be combined in at most {} ways", most_bases));
      return;
    }
  }
  read(file, search, parts, count, diagnostics);
}

void Bases::read(const SweepFile& file, const SearchPath& search, const Parts& parts, std::size_t count,
                 Diagnostics& diagnostics) {
  for (std::size_t index = 0; index < count && diagnostics.ok(); ++index) {
    Choice choice(axes_->axes.size(), 0);
    std::size_t rest = index;
    for (auto i = including_.rbegin(); i != including_.rend(); ++i) {
      choice[*i] = rest % axes_->axes[*i].values.size();
      rest /= axes_->axes[*i].values.size();
    }
    Base base{root_of(file, choice, search.files, diagnostics), nullptr};
    if (base.inlined == nullptr) return;
    inline_all(*base.inlined, search, diagnostics);
    name_untitled(*base.inlined, file.path);
    base.completed = complete(*base.inlined, parts);
    bases_.push_back(std::move(base));
  }
}

/// The file, the sweep's own tables over it, what the axis of experiments says, settings, and the other axes.
std::shared_ptr<Table> Bases::root_of(const SweepFile& file, const Choice& choice, InputFiles& files,
                                      Diagnostics& diagnostics) const {
  Given given{file.experiment, nullptr};
  for (const std::size_t i : including_) {
    const Axis& axis = axes_->axes[i];
    if (axis.key != experiment_axis) continue;
    const Given by_axis = given_by(axis.values[choice[i]].value);
    given = {by_axis.file ? by_axis.file : given.file, by_axis.over};
  }
  auto root =
      given.file ? read_named(*given.file, file.path, files, diagnostics) : std::make_shared<Table>(file.own->where());
  if (root == nullptr) return nullptr;
  config::merge(*root, *file.own);
  open_names(*root);
  if (given.over != nullptr)
    for (const auto& [key, value] : given.over->entries())
      if (key != experiment_axis) put_over(*root, key, value, diagnostics);
  for (const Setting& setting : file.settings) apply(*root, setting, diagnostics);
  for (const std::size_t i : including_) {
    const Axis& axis = axes_->axes[i];
    if (axis.key != experiment_axis) put_value(*root, axis.key, axis.values[choice[i]].value, diagnostics);
  }
  return root;
}

std::size_t Bases::index_of(const Choice& choice) const {
  std::size_t index = 0;
  for (const std::size_t axis : including_) index = index * axes_->axes[axis].values.size() + choice[axis];
  return index;
}

bool Bases::has(std::size_t axis) const { return std::ranges::count(including_, axis) > 0; }

}  // namespace tessera::experiment::sweep
