// Fields that hold lists and nested tables.
#include "bounds.hpp"
#include "open_keys.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"

namespace tessera::config::detail {

std::string print_integer(std::int64_t value) { return std::to_string(value); }

std::optional<std::int64_t> decode_integer(const Value& value, const Bounds<std::int64_t>& bounds,
                                           std::string& problem) {
  const auto* whole = std::get_if<std::int64_t>(&value.content());
  if (whole == nullptr) {
    problem = value.type_name() + " is not allowed here, expected a whole number";
  } else if (!bounds.contain(*whole)) {
    problem = bounds.complain(print_integer(*whole), print_integer);
  } else {
    return *whole;
  }
  return std::nullopt;
}

Value parse_literal(const std::string& key, const std::string& text) {
  Diagnostics diagnostics;
  const auto parsed = parse_toml("value = " + text, "", diagnostics);
  if (!diagnostics.ok())
    throw InternalError("declaration of parameter \"" + key + "\": " + text + " is not valid TOML");
  return *parsed->find("value");
}

namespace {

/// By which lists are known.
class AnyListField : public FieldBase {
 public:
  using FieldBase::FieldBase;
};

/// A list of scalars; each element is checked on its own.
template <class V>
class ListField : public AnyListField {
 public:
  ListField(const std::string& key, const std::string& help, Access<std::vector<V>> member)
      : AnyListField(key, help), member_(std::move(member)) {}

  void read(void* object, const Value& value, Diagnostics& diagnostics) const override {
    const Array* array = value.array();
    if (array == nullptr) {
      diagnostics.error(value.where(), '"' + key() + "\": " + value.type_name() + " is not allowed here, expected " +
                                           expectation() + (may_be_open() ? ", a list of such lists, or \"any\"" : ""));
      return;
    }
    std::vector<V> list;
    for (const Value& element : *array) {
      std::string problem;
      if (auto decoded = decode(element, problem)) {
        list.push_back(std::move(*decoded));
      } else {
        diagnostics.error(element.where(), "element of \"" + key() + "\": " + problem);
      }
    }
    if (list.size() == array->size()) member_.set(object, std::move(list));
  }

  Value write(const void* object, const void*) const override {
    Array array;
    for (const V& element : member_.get(object)) array.push_back({element, {}});
    return {std::move(array), {}};
  }
  bool is_initial(const void* object, const void* initial) const override {
    return member_.get(object) == member_.get(initial);
  }

 protected:
  [[nodiscard]] virtual std::optional<V> decode(const Value& element, std::string& problem) const = 0;

  Value parse_fallback(const std::string& text) const override {
    Value value = parse_literal(key(), text);
    if (value.array() == nullptr) misuse("default " + text + " is not a list");
    for (const Value& element : *value.array()) {
      std::string problem;
      if (!decode(element, problem)) misuse("default " + text + ": " + problem);
    }
    return value;
  }

 private:
  Access<std::vector<V>> member_;
};

class IntegersField : public ListField<std::int64_t> {
 public:
  using ListField::ListField;
  void set_minimum(const std::string& bound) override { bounds_.minimum = parse_bound(bound); }
  void set_maximum(const std::string& bound) override { bounds_.maximum = parse_bound(bound); }
  std::string expectation() const override { return "a list of whole numbers such as [1, 2]"; }
  ParameterHelp describe() const override {
    const std::string range = bounds_.describe(print_integer);
    return {"", "list of whole numbers", "", range.empty() ? "" : "each " + range, "", ""};
  }

 protected:
  std::optional<std::int64_t> decode(const Value& element, std::string& problem) const override {
    return decode_integer(element, bounds_, problem);
  }

 private:
  std::int64_t parse_bound(const std::string& bound) const {
    std::string problem;
    const auto value = decode_integer(parse_literal(key(), bound), {}, problem);
    if (!value) misuse("bound " + bound + ": " + problem);
    return *value;
  }

  Bounds<std::int64_t> bounds_;
};

class TextsField : public ListField<std::string> {
 public:
  using ListField::ListField;
  std::string expectation() const override { return "a list of texts such as [\"a\", \"b\"]"; }
  ParameterHelp describe() const override { return {"", "list of texts", "", "", "", ""}; }

 protected:
  std::optional<std::string> decode(const Value& element, std::string& problem) const override {
    if (const std::string* text = element.string()) return *text;
    problem = element.type_name() + " is not allowed here, expected a text in quotes";
    return std::nullopt;
  }
};

class TableField : public FieldBase {
 public:
  TableField(const std::string& key, const std::string& help, TableAccess member, const SchemaBase& schema)
      : FieldBase(key, help), member_(std::move(member)), schema_(schema) {}

  void read(void* object, const Value& value, Diagnostics& diagnostics) const override {
    if (const Table* table = value.table()) {
      read_nested(schema_, member_.change(object), *table, diagnostics);
    } else {
      diagnostics.error(value.where(),
                        '"' + key() + "\": " + value.type_name() + " is not allowed here, expected " + expectation());
    }
  }
  Value write(const void* object, const void* initial) const override {
    auto table = std::make_shared<Table>();
    write_nested(schema_, member_.get(object), member_.get(initial), *table);
    return {std::move(table), {}};
  }
  bool is_initial(const void* object, const void* initial) const override {
    return is_initial_nested(schema_, member_.get(object), member_.get(initial));
  }
  void complete(Value& value) const override {
    if (Table* table = value.table()) schema_.complete(*table);
  }
  std::string expectation() const override { return "a table [" + schema_.path() + "]"; }
  ParameterHelp describe() const override { return {"", "table", "", "see " + schema_.path(), "", ""}; }

 protected:
  Value parse_fallback(const std::string& text) const override {
    Value value = parse_literal(key(), text);
    if (value.table() == nullptr) misuse("default " + text + " is not a table");
    return value;
  }

 private:
  TableAccess member_;
  const SchemaBase& schema_;
};

class TablesField : public FieldBase {
 public:
  TablesField(const std::string& key, const std::string& help, ListAccess member, const SchemaBase& schema)
      : FieldBase(key, help), member_(std::move(member)), schema_(schema) {}

  void read(void* object, const Value& value, Diagnostics& diagnostics) const override {
    const Array* array = value.array();
    if (array == nullptr) {
      diagnostics.error(value.where(),
                        '"' + key() + "\": " + value.type_name() + " is not allowed here, expected " + expectation());
      return;
    }
    member_.clear(object);
    for (const Value& element : *array) {
      if (const Table* table = element.table()) {
        read_nested(schema_, member_.append(object), *table, diagnostics);
      } else {
        diagnostics.error(element.where(), "element of \"" + key() + "\": " + element.type_name() +
                                               " is not allowed here, expected a table");
      }
    }
  }
  Value write(const void* object, const void*) const override {
    Array array;
    for (std::size_t i = 0; i < member_.size(object); ++i) {
      auto table = std::make_shared<Table>();
      write_nested(schema_, member_.at(object, i), member_.initial.get(), *table);
      array.push_back({std::move(table), {}});
    }
    return {std::move(array), {}};
  }
  bool is_initial(const void* object, const void* initial) const override {
    if (member_.size(object) != member_.size(initial)) return false;
    for (std::size_t i = 0; i < member_.size(object); ++i) {
      if (!is_initial_nested(schema_, member_.at(object, i), member_.at(initial, i))) return false;
    }
    return true;
  }
  void complete(Value& value) const override {
    if (auto* array = const_cast<Array*>(value.array())) {
      for (Value& element : *array) {
        if (Table* table = element.table()) schema_.complete(*table);
      }
    }
  }
  std::string expectation() const override { return "a list of tables [[" + schema_.path() + "]]"; }
  ParameterHelp describe() const override { return {"", "list of tables", "", "see " + schema_.path(), "", ""}; }

 protected:
  Value parse_fallback(const std::string& text) const override {
    Value value = parse_literal(key(), text);
    if (value.array() == nullptr) misuse("default " + text + " is not a list of tables");
    return value;
  }

 private:
  ListAccess member_;
  const SchemaBase& schema_;
};

}  // namespace

Field integers_field(const std::string& key, const std::string& help, Access<std::vector<std::int64_t>> member) {
  return std::make_unique<IntegersField>(key, help, std::move(member));
}

Field texts_field(const std::string& key, const std::string& help, Access<std::vector<std::string>> member) {
  return std::make_unique<TextsField>(key, help, std::move(member));
}

Field table_field(const std::string& key, const std::string& help, TableAccess member, const SchemaBase& schema) {
  return std::make_unique<TableField>(key, help, std::move(member), schema);
}

Field tables_field(const std::string& key, const std::string& help, ListAccess member, const SchemaBase& schema) {
  return std::make_unique<TablesField>(key, help, std::move(member), schema);
}

}  // namespace tessera::config::detail

namespace tessera::config {

bool is_list(const detail::FieldBase& field) { return dynamic_cast<const detail::AnyListField*>(&field) != nullptr; }

}  // namespace tessera::config
