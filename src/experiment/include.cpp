// Machines, models and recipes by name: found, read, and put under the keys that the experiment gives itself.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "accuracy.hpp"
#include "foreign_files.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/foreign_words.hpp"
#include "tessera/machine/topology.hpp"
#include "tessera/workload/operator.hpp"
#include "tree.hpp"

namespace tessera::experiment {
namespace {

namespace fs = std::filesystem;
using config::Table;
using config::Value;

/// What machines, models and recipes differ in.
struct Family {
  std::string noun;                     ///< "machine": also the key
  std::vector<std::string> below;       ///< folders below the input folders
  std::vector<std::string> extensions;  ///< of files that are found by name
};
const Family machines{"machine", {"machines"}, {".toml"}};
const Family models{"model", {"models", "graphs"}, {".toml", ".json", ".onnx"}};
const Family recipes{"recipe", {"recipes"}, {".toml"}};

/// More than these are no line that is read.
constexpr std::size_t most_names = 50;

bool is_path(const std::string& name, const Family& family) {
  const std::string extension = fs::path(name).extension().string();
  const auto& known = family.extensions;
  return name.find('/') != std::string::npos || std::find(known.begin(), known.end(), extension) != known.end() ||
         has_foreign_extension(name);
}

/// Where names of the family stand, in the order in which they are looked up.
std::vector<fs::path> folders_of(const Family& family, const SearchPath& search) {
  std::vector<fs::path> all;
  for (const fs::path& folder : search.folders)
    for (const std::string& below : family.below) all.push_back(folder / below);
  return all;
}

/// The file that a name stands for: a path relative to the experiment, or a name beside it or in the input folders.
std::optional<fs::path> find(const std::string& name, const Family& family, const SearchPath& search,
                             const fs::path& own) {
  if (name.find('\0') != std::string::npos) return std::nullopt;  // a file's name would end there
  std::vector<fs::path> candidates;
  if (is_path(name, family)) {
    candidates.push_back(own / name);
  } else {
    if (search.beside) {
      for (const std::string& extension : family.extensions) candidates.push_back(own / (name + extension));
    }
    for (const fs::path& folder : folders_of(family, search)) {
      for (const std::string& extension : family.extensions) candidates.push_back(folder / (name + extension));
    }
  }
  for (const fs::path& candidate : candidates) {
    if (search.files.is_file(candidate)) return candidate;
    // What a path names and is no file is refused by what it is when it is read, or read as a pipe.
    if (is_path(name, family) && search.files.exists(candidate)) return candidate;
  }
  return std::nullopt;
}

/// Names that the input folders offer, sorted.
std::vector<std::string> known_names(const Family& family, const SearchPath& search) {
  std::set<std::string> names;
  for (const fs::path& folder : folders_of(family, search)) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const auto& known = family.extensions;
      const bool fits = std::find(known.begin(), known.end(), entry.path().extension().string()) != known.end();
      if (std::error_code problem; fits && entry.is_regular_file(problem)) {
        names.insert(entry.path().stem().string());
      }
    }
  }
  return {names.begin(), names.end()};
}

void report_unknown(const Value& name, const Family& family, const SearchPath& search, const fs::path& own,
                    config::Diagnostics& diagnostics) {
  const std::string& text = *name.string();
  if (is_path(text, family)) {
    diagnostics.error(name.where(), "there is no " + family.noun + " file \"" + (own / text).string() + "\"");
    return;
  }
  const std::vector<std::string> known = known_names(family, search);
  std::string what = "unknown " + family.noun + " \"" + text + "\"" + config::hint(text, known);
  if (known.size() > most_names)
    what += fmt::format(", known: the {} that `tessera list {}s` names", known.size(), family.noun);
  else if (!known.empty())
    what += ", known: " + config::listed(known);
  diagnostics.error(name.where(), what);
}

/// Of the file that a name stands in: what comes out of a pipe, or from the command line, has none.
fs::path folder_of(const Value& name, const SearchPath& search) {
  const fs::path file = name.where().file;
  return search.files.is_file(file) ? file.parent_path() : search.own;
}

/// Reads the named file into text; reports and returns nothing when there is none.
std::optional<std::pair<std::string, std::string>> read_named(const Value& name, const Family& family,
                                                              const SearchPath& search,
                                                              config::Diagnostics& diagnostics) {
  if (name.string() == nullptr) {
    diagnostics.error(name.where(), name.type_name() + " is not allowed here, expected the name of a " + family.noun);
    return std::nullopt;
  }
  const fs::path own = folder_of(name, search);
  const auto path = find(*name.string(), family, search, own);
  if (!path) {
    report_unknown(name, family, search, own, diagnostics);
    return std::nullopt;
  }
  try {
    const std::size_t most_bytes = path->extension() == ".onnx" ? std::size_t{2} << 30U : std::size_t{64} << 20U;
    return std::make_pair(path->string(), search.files.read(*path, most_bytes).value_or(""));
  } catch (const InputError& error) {
    diagnostics.error(name.where(), error.what());
    return std::nullopt;
  }
}

std::shared_ptr<Table> parse_machine(const std::string& text, const std::string& file, Table&,
                                     config::Diagnostics& diagnostics) {
  config::Diagnostics own;
  if (refuse_foreign_file(text, file, "a machine", diagnostics)) return nullptr;
  auto table = machine::parse_machine_file(text, file, own);
  diagnostics.add(own);
  return table;
}

std::shared_ptr<Table> parse_recipe(const std::string& text, const std::string& file, Table&,
                                    config::Diagnostics& diagnostics) {
  config::Diagnostics own;
  if (refuse_foreign_file(text, file, "a recipe", diagnostics)) return nullptr;
  auto table = config::parse_toml(text, file, own);
  const std::size_t before = own.errors().size();
  if (own.ok()) (void)recipe_schema().read(*table, own);
  const bool usable = own.errors().size() == before && own.ok();
  diagnostics.add(own);
  return usable ? table : nullptr;
}

/// Of a file's content, its name, and the table whose key names it.
using Parser = std::shared_ptr<Table> (*)(const std::string&, const std::string&, Table&, config::Diagnostics&);

/// A recipe's operations run besides those of the recipe that it includes; an empty list leaves those out.
void add_operations(const Table& base, Table& own) {
  const auto operations_of = [](const Table& recipe) -> const Value* {
    const Value* workload = recipe.find("workload");
    return workload == nullptr || workload->table() == nullptr ? nullptr : workload->table()->find("operations");
  };
  const Value *theirs = operations_of(base), *ours = operations_of(own);
  if (theirs == nullptr || ours == nullptr || theirs->array() == nullptr || ours->array() == nullptr) return;
  if (ours->array()->empty()) return;
  std::vector<Value> both = *theirs->array();
  both.insert(both.end(), ours->array()->begin(), ours->array()->end());
  own.find("workload")->table()->set("operations", {both, ours->where()});
}

/// `table` with the file that its `key` names below its own keys. Files may include others; `open` are those being
/// read.
std::shared_ptr<Table> with_include(const Table& table, const std::string& key, const Family& family, Parser parse,
                                    const SearchPath& search, std::set<std::string>& open,
                                    config::Diagnostics& diagnostics) {
  const Value* name = table.find(key);
  auto own = config::clone(table);
  if (name == nullptr) return own;
  own->erase(key);
  const auto read = read_named(*name, family, search, diagnostics);
  if (!read) return nullptr;
  const auto& [file, text] = *read;
  std::error_code ignored;
  if (!open.insert(fs::weakly_canonical(file, ignored).string()).second) {
    diagnostics.error(name->where(), "\"" + file + "\" includes itself");
    return nullptr;
  }
  auto base = parse(text, file, *own, diagnostics);
  if (base != nullptr)
    base = with_include(*base, "include", family, parse, {fs::path(file).parent_path(), search.folders, search.files},
                        open, diagnostics);
  if (base == nullptr) return nullptr;
  add_operations(*base, *own);
  config::merge(*base, *own);
  return base;
}

/// The key's value as a table, where a mere name counts as include = name; null after an error.
std::shared_ptr<Table> as_table(const Value& value, const Family& family, config::Diagnostics& diagnostics) {
  if (const Table* table = value.table()) return config::clone(*table);
  if (value.string() == nullptr) {
    diagnostics.error(value.where(), "\"" + family.noun + "\": " + value.type_name() +
                                         " is not allowed here, expected a name or a table [" + family.noun + "]");
    return nullptr;
  }
  auto table = std::make_shared<Table>(value.where());
  table->set("include", value);
  return table;
}

/// Of a recipe's [cost], what the cost model has that the experiment names: that may be another one.
std::shared_ptr<Table> for_model(const Table& recipe, const Table& own) {
  auto left = config::clone(recipe);
  const Value* model = own.find("model");
  if (model == nullptr || model->string() == nullptr) return left;
  for (const workload::CostModelKind& kind : workload::cost_model_kinds()) {
    if (kind.name != *model->string()) continue;
    const std::vector<config::ParameterHelp> known = kind.schema().parameters();
    for (const auto& [key, value] : recipe.entries())
      if (std::ranges::find(known, key, &config::ParameterHelp::name) == known.end()) left->erase(key);
  }
  return left;
}

/// Strategies that a recipe's [strategy] is for, the first of which it names: a text, or a list.
std::vector<std::string> strategies_of(const Table& recipe) {
  std::vector<std::string> found;
  const Value* name = recipe.find("name");
  if (name == nullptr) return found;
  if (name->string() != nullptr) found.push_back(*name->string());
  if (name->array() != nullptr)
    for (const Value& one : *name->array())
      if (one.string() != nullptr) found.push_back(*one.string());
  return found;
}

/// Of a recipe's [strategy], for an experiment that names a strategy or takes the recipe's; null after an error.
std::shared_ptr<Table> for_strategy(const Value& recipe, const Table& theirs, const Table& own,
                                    config::Diagnostics& diagnostics) {
  auto left = config::clone(theirs);
  const std::vector<std::string> known = strategies_of(theirs);
  if (!known.empty()) left->set("name", {known.front(), theirs.find("name")->where()});
  const Value* ours = own.find("name");
  if (known.empty() || ours == nullptr || ours->string() == nullptr) return left;
  if (std::ranges::find(known, *ours->string()) != known.end()) return left;
  diagnostics.error(recipe.where(), fmt::format("recipe \"{}\" is for strategy \"{}\", not for \"{}\"",
                                                *recipe.string(), fmt::join(known, "\" or \""), *ours->string()));
  return nullptr;
}

/// The tables of a recipe below those of the experiment; a recipe's strategy has to be the experiment's.
void add_recipe(Table& root, const Value& name, const Table& recipe, config::Diagnostics& diagnostics) {
  for (const auto& [key, value] : recipe.entries()) {
    if (value.table() == nullptr) continue;  // "source"
    if (root.find(key) == nullptr) root.set(key, {std::make_shared<Table>(name.where()), name.where()});
    Table* own = root.find(key)->table();
    if (own == nullptr) continue;  // whoever reads that table says so
    auto defaults = key == "cost"       ? for_model(*value.table(), *own)
                    : key == "strategy" ? for_strategy(name, *value.table(), *own, diagnostics)
                                        : config::clone(*value.table());
    if (defaults == nullptr) return;
    machine::add_missing(*own, *defaults);
  }
}

void replace(Table& root, const std::string& key, const Value& old, std::shared_ptr<Table> table) {
  if (table == nullptr) {
    root.erase(key);
  } else {
    root.set(key, {std::move(table), old.where(), old.key_where()});
  }
}

}  // namespace

std::vector<std::string> machine_names(const SearchPath& search) { return known_names(machines, search); }

std::vector<std::string> model_names(const SearchPath& search) { return known_names(models, search); }

std::vector<std::string> recipe_names(const SearchPath& search) { return known_names(recipes, search); }

void inline_machine(Table& root, const SearchPath& search, config::Diagnostics& diagnostics) {
  const Value* found = root.find("machine");
  if (found == nullptr) return;
  const Value value = *found;
  auto table = as_table(value, machines, diagnostics);
  std::set<std::string> open;
  if (table != nullptr) table = with_include(*table, "include", machines, parse_machine, search, open, diagnostics);
  replace(root, "machine", value, std::move(table));
}

std::shared_ptr<Table> model_with_files(const Value& model, const SearchPath& search,
                                        config::Diagnostics& diagnostics) {
  auto table = as_table(model, models, diagnostics);
  if (table == nullptr) return nullptr;
  const char* key = "include";
  for (const char* other : {"hugging_face", "side_by_side"}) {
    const Value* found = table->find(other);
    if (found == nullptr) continue;
    if (table->find(key) != nullptr) {
      diagnostics.error(found->key_where(), fmt::format("a model has either \"{}\" or \"{}\", not both", key, other));
      return nullptr;
    }
    key = other;
  }
  if (std::string_view(key) == "side_by_side") return table;
  std::set<std::string> open;
  return with_include(*table, key, models, parse_model, search, open, diagnostics);
}

std::shared_ptr<Table> read_recipe(const Value& name, const SearchPath& search, config::Diagnostics& diagnostics) {
  std::set<std::string> open;
  Table including(name.where());
  including.set("include", name);
  return with_include(including, "include", recipes, parse_recipe, search, open, diagnostics);
}

void inline_recipe(Table& root, const SearchPath& search, config::Diagnostics& diagnostics) {
  const Value* found = root.find("recipe");
  if (found == nullptr) return;
  const Value name = *found;
  const auto recipe = read_recipe(name, search, diagnostics);
  root.erase("recipe");
  root.erase("measured");  // of another recipe, which a resolved experiment had
  if (recipe == nullptr) return;
  add_recipe(root, name, *recipe, diagnostics);
  if (const auto file = find(*name.string(), recipes, search, folder_of(name, search)))
    add_measured_jobs(root, *file, search.files, diagnostics);
}

void inline_all(Table& root, const SearchPath& search, config::Diagnostics& diagnostics) {
  inline_machine(root, search, diagnostics);
  inline_model(root, search, diagnostics);
  inline_recipe(root, search, diagnostics);
}

}  // namespace tessera::experiment
