#include "generators.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/machine/template.hpp"

namespace tessera::experiment::sweep {
namespace {

using config::Diagnostics;
using config::Table;
using config::Value;
using machine::TemplateKind;

constexpr const char* template_key = "machine.template";

/// Whether `name` is a key of the table at `path`.
bool is_key_of(const TemplateKind& kind, const std::string& path, const std::string& name) {
  const config::SchemaBase* schema = path == template_key ? &kind.schema() : nullptr;
  for (const config::SchemaBase* inner : kind.inner_schemas)
    if (inner->path() == path) schema = inner;
  if (schema == nullptr) return true;  // whoever reads that table knows
  const auto parameters = schema->parameters();
  return std::ranges::count(parameters, name, &config::ParameterHelp::name) > 0;
}

/// Sorts what stands in a table into the machine's keys and axes. A table that is no key has a name of somebody's own:
/// it is one of the values of the table in which it stands.
void share_out(const Table& keys, const std::string& path, const TemplateKind& kind, Table& root, Table& axes,
               Diagnostics& diagnostics) {
  for (const auto& [name, value] : keys.entries()) {
    const std::string key = path + "." + name;
    if (value.array() != nullptr || is_range(value)) {
      axes.set(key, value);
    } else if (value.table() == nullptr) {
      put(root, key, value, diagnostics);
    } else if (is_key_of(kind, path, name)) {
      share_out(*value.table(), key, kind, root, axes, diagnostics);
    } else {
      if (axes.find(path) == nullptr)
        axes.set(path, {std::make_shared<Table>(value.where()), value.where(), value.key_where()});
      axes.find(path)->table()->set(name, value);
    }
  }
}

/// The kind stands in the experiment's [machine.template], whose other keys are those of all points.
void name_kind(SweepFile& file, const Value& named, const TemplateKind& kind, Diagnostics& diagnostics) {
  put(*file.own, std::string(template_key) + ".kind", {kind.name, named.where()}, diagnostics);
}

}  // namespace

void generate(SweepFile& file, Diagnostics& diagnostics) {
  const Value* named = file.sweep->find("generate");
  if (named == nullptr) return;
  const auto& kinds = machine::built_in_templates();
  const std::string name = named->string() == nullptr ? "" : *named->string();
  const auto kind = std::ranges::find(kinds, name, &TemplateKind::name);
  if (kind == kinds.end()) {
    diagnostics.error(named->where(),
                      named->string() == nullptr
                          ? "\"generate\": " + named->type_name() + " is not allowed here, expected a name"
                          : config::unknown("generator", name, config::names_of(kinds)));
    return;
  }
  const Value* keys = file.sweep->find(name);
  if (keys == nullptr || keys->table() == nullptr) {
    diagnostics.error(keys == nullptr ? named->where() : keys->where(),
                      fmt::format("generate = \"{}\" needs a table [sweep.{}], whose keys are those of "
                                  "[machine.template]; see tessera help {}",
                                  name, name, kind->schema().path()));
    return;
  }
  const Value where = *named;
  name_kind(file, where, *kind, diagnostics);
  auto axes = std::make_shared<Table>(keys->table()->where());
  share_out(*keys->table(), template_key, *kind, *file.own, *axes, diagnostics);
  if (const Value* own = file.sweep->find("axes"); own != nullptr && own->table() != nullptr)
    for (const auto& [key, value] : own->table()->entries()) axes->set(key, value);
  file.sweep->set("axes", {std::move(axes), where.where()});
}

}  // namespace tessera::experiment::sweep
