// Values and tables as read from TOML.
#include "tessera/base/config.hpp"

namespace tessera::config {

const Table* Value::table() const {
  const auto* nested = std::get_if<std::shared_ptr<Table>>(&content_);
  return nested != nullptr ? nested->get() : nullptr;
}

Table* Value::table() {
  auto* nested = std::get_if<std::shared_ptr<Table>>(&content_);
  return nested != nullptr ? nested->get() : nullptr;
}

const Array* Value::array() const { return std::get_if<Array>(&content_); }

const std::string* Value::string() const { return std::get_if<std::string>(&content_); }

std::string Value::type_name() const {
  static constexpr const char* names[] = {"a boolean", "a whole number", "a number with a fraction",
                                          "a string",  "an array",       "a table"};
  return names[content_.index()];
}

const Value* Table::find(std::string_view key) const {
  for (const auto& [name, value] : entries_) {
    if (name == key) return &value;
  }
  return nullptr;
}

Value* Table::find(std::string_view key) { return const_cast<Value*>(std::as_const(*this).find(key)); }

void Table::set(const std::string& key, Value value) {
  if (Value* present = find(key)) {
    *present = std::move(value);
  } else {
    append(key, std::move(value));
  }
}

void Table::append(const std::string& key, Value value) { entries_.emplace_back(key, std::move(value)); }

void Table::erase(std::string_view key) {
  std::erase_if(entries_, [key](const auto& entry) { return entry.first == key; });
}

namespace {

Value clone_value(const Value& value) {
  if (const Table* nested = value.table()) return {clone(*nested), value.where(), value.key_where()};
  if (const Array* array = value.array()) {
    Array copy;
    for (const Value& element : *array) copy.push_back(clone_value(element));
    return {std::move(copy), value.where(), value.key_where()};
  }
  return value;
}

bool same_value(const Value& a, const Value& b) {
  if (a.content().index() != b.content().index()) return false;
  if (const Table* nested = a.table()) return same_content(*nested, *b.table());
  if (const Array* array = a.array()) {
    const Array& other = *b.array();
    if (array->size() != other.size()) return false;
    for (std::size_t i = 0; i < array->size(); ++i) {
      if (!same_value((*array)[i], other[i])) return false;
    }
    return true;
  }
  if (const auto* text = a.string()) return *text == *b.string();
  if (const auto* flag = std::get_if<bool>(&a.content())) return *flag == std::get<bool>(b.content());
  if (const auto* whole = std::get_if<std::int64_t>(&a.content())) return *whole == std::get<std::int64_t>(b.content());
  return std::get<double>(a.content()) == std::get<double>(b.content());
}

}  // namespace

std::shared_ptr<Table> clone(const Table& table) {
  auto copy = std::make_shared<Table>(table.where());
  for (const auto& [key, value] : table.entries()) copy->append(key, clone_value(value));
  return copy;
}

Value relocated(const Value& value, const Location& where) {
  if (const Table* table = value.table()) {
    auto copy = std::make_shared<Table>(where);
    for (const auto& [key, element] : table->entries()) copy->append(key, relocated(element, where));
    return {std::move(copy), where};
  }
  if (const Array* array = value.array()) {
    Array copy;
    for (const Value& element : *array) copy.push_back(relocated(element, where));
    return {std::move(copy), where};
  }
  return {value.content(), where};
}

bool same_content(const Table& a, const Table& b) {
  if (a.entries().size() != b.entries().size()) return false;
  for (const auto& [key, value] : a.entries()) {
    const Value* other = b.find(key);
    if (other == nullptr || !same_value(value, *other)) return false;
  }
  return true;
}

void merge(Table& base, const Table& over) {
  for (const auto& [key, value] : over.entries()) {
    Value* present = base.find(key);
    if (present != nullptr && present->table() != nullptr && value.table() != nullptr) {
      merge(*present->table(), *value.table());
    } else {
      base.set(key, clone_value(value));
    }
  }
}

}  // namespace tessera::config
