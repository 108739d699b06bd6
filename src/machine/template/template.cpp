// Templates by name, and the machines that take their place.
#include "tessera/machine/template.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "templates.hpp"

namespace tessera::machine {
namespace {

struct TemplateHead {
  std::string kind;
};

const config::Schema<TemplateHead>& head_schema() {
  static const config::Schema<TemplateHead> schema = [] {
    config::Schema<TemplateHead> s("machine.template",
                                   "A machine that is computed: its device and its topology follow from these keys.");
    std::string help = "see machine.template.KIND:";
    for (const TemplateKind& kind : built_in_templates()) help += " " + kind.name + ": " + kind.help;
    s.choice("kind", &TemplateHead::kind, config::names_of(built_in_templates()), help);
    return s;
  }();
  return schema;
}

/// The kind that a table names; null after an error.
const TemplateKind* kind_of(const config::Table& keys, config::Diagnostics& diagnostics) {
  config::Table head(keys.where());
  if (const config::Value* kind = keys.find("kind")) head.set("kind", *kind);
  config::Diagnostics own;
  const std::string name = head_schema().read(head, own).kind;
  diagnostics.add(own);
  if (!own.ok()) return nullptr;
  return &*std::ranges::find(built_in_templates(), name, &TemplateKind::name);
}

/// Puts what a template makes under the machine's own keys. Those that both have are refused, but for the name and the
/// source: a width that is typed in beside the one that is computed would be another machine than the template's.
void put_below(config::Table& own, const config::Table& made, const std::string& path,
               config::Diagnostics& diagnostics) {
  for (const auto& [key, value] : made.entries()) {
    config::Value* present = own.find(key);
    if (present == nullptr) {
      own.set(key, value);
    } else if (value.table() != nullptr && present->table() != nullptr) {
      put_below(*present->table(), *value.table(), path + "." + key, diagnostics);
    } else if (path != "machine" || (key != "name" && key != "source")) {
      diagnostics.error(
          present->key_where(),
          fmt::format("\"{}\" of [{}] follows from [machine.template], allowed: the keys of that table", key, path));
    }
  }
}

}  // namespace

const std::vector<TemplateKind>& built_in_templates() {
  static const std::vector<TemplateKind> kinds{wafer_template()};
  return kinds;
}

const config::SchemaBase& template_schema() { return head_schema(); }

std::string in_millimetres(Length length) {
  return fmt::format("{:.6g} mm", 1e-3 * static_cast<double>(length.value()));
}

void complete_template(config::Table& keys) {
  config::Diagnostics ignored;  // whoever expands it reports
  if (const TemplateKind* kind = kind_of(keys, ignored)) kind->schema().complete(keys);
}

bool expand_template(config::Table& machine, config::Diagnostics& diagnostics) {
  const config::Value* found = machine.find("template");
  if (found == nullptr) return true;
  if (found->table() == nullptr) {
    diagnostics.error(found->where(), "\"template\": " + found->type_name() + " is not allowed here, expected a table");
    return false;
  }
  const TemplateKind* kind = kind_of(*found->table(), diagnostics);
  const auto made = kind == nullptr ? nullptr : kind->make(*found->table(), diagnostics);
  if (made == nullptr) return false;
  config::Diagnostics own;
  const auto whole = config::clone(machine);
  put_below(*whole, *made, "machine", own);
  diagnostics.add(own);
  if (!own.ok()) return false;
  whole->erase("template");
  machine = *whole;
  return true;
}

}  // namespace tessera::machine
