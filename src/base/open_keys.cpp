#include "open_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "toml_write.hpp"

namespace tessera::config {

bool is_open(const detail::FieldBase& field, const Value& value) {
  if (!field.may_be_open()) return false;
  if (value.string() != nullptr) return *value.string() == "any";
  const Array* list = value.array();
  if (list == nullptr || !is_list(field)) return list != nullptr;
  return !list->empty() && list->front().array() != nullptr;
}

void SchemaBase::read_open(const detail::FieldBase& field, void* object, const Value& value, Diagnostics& diagnostics) {
  if (const Array* list = value.array(); list != nullptr) {
    if (list->empty())
      diagnostics.error(value.where(), '"' + field.key() + "\" is an empty list, expected " + field.expectation() +
                                           ", a list of them, or \"any\"");
    std::vector<std::string> seen;
    for (const Value& one : *list) {
      field.read(object, one, diagnostics);
      seen.push_back(inline_text(one));
      if (std::ranges::count(seen, seen.back()) > 1)
        diagnostics.error(one.where(), fmt::format("\"{}\": {} is in the list twice", field.key(), seen.back()));
    }
  }
  if (field.fallback()) field.read(object, *field.fallback(), diagnostics);
}

std::vector<OpenKey> SchemaBase::open_keys(const Table& table) const {
  std::vector<OpenKey> open;
  for (const auto& field : fields_) {
    const Value* value = table.find(field->key());
    if (value == nullptr || !is_open(*field, *value)) continue;
    open.push_back({field->key(), value->where(), value->array() != nullptr ? *value->array() : Array()});
  }
  return open;
}

std::vector<Value> SchemaBase::values_of(const std::string& key) const {
  for (const auto& field : fields_)
    if (field->key() == key) return field->values();
  return {};
}

}  // namespace tessera::config
