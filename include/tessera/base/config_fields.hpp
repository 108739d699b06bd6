// How Schema<T> reaches the members of T: each declaration becomes one type-erased field. Included by config.hpp.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "tessera/base/config.hpp"

namespace tessera::config {
namespace detail {

/// What FieldHandle refines.
class FieldState {
 public:
  virtual ~FieldState() = default;
  virtual void set_minimum(const std::string& bound) = 0;
  virtual void set_maximum(const std::string& bound) = 0;
  virtual void set_fallback(const std::string& fallback) = 0;
  virtual void set_optional() = 0;
  virtual void set_names_file() = 0;
  virtual void set_may_be_open() = 0;
};

/// One declared parameter. Fields take their object as void*: the Schema<T> that owns them only passes a T.
class FieldBase : public FieldState {
 public:
  FieldBase(std::string key, std::string help) : key_(std::move(key)), help_(std::move(help)) {}

  /// Stores a value that is present; problems go to `diagnostics` and the object stays as it is.
  virtual void read(void* object, const Value& value, Diagnostics& diagnostics) const = 0;
  [[nodiscard]] virtual Value write(const void* object, const void* initial) const = 0;
  [[nodiscard]] virtual bool is_initial(const void* object, const void* initial) const = 0;
  /// Defaults inside a value that is present (nested tables).
  virtual void complete(Value&) const {}
  /// What is expected, for the message about a missing key: "a bandwidth such as \"150 GB/s\"".
  [[nodiscard]] virtual std::string expectation() const = 0;
  /// Type, unit and range; the rest is filled in by help().
  [[nodiscard]] virtual ParameterHelp describe() const = 0;

  void set_minimum(const std::string& bound) override;
  void set_maximum(const std::string& bound) override;
  void set_fallback(const std::string& fallback) override;
  void set_optional() override;
  void set_names_file() override { names_file_ = true; }
  void set_may_be_open() override { may_be_open_ = true; }

  [[nodiscard]] ParameterHelp help() const;
  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] bool optional() const { return optional_; }
  [[nodiscard]] bool names_file() const { return names_file_; }
  [[nodiscard]] bool may_be_open() const { return may_be_open_; }
  /// All of them, where they are few.
  [[nodiscard]] virtual std::vector<Value> values() const { return {}; }
  [[nodiscard]] const std::optional<Value>& fallback() const { return fallback_; }

 protected:
  /// The default as a value; throws InternalError when it does not parse.
  [[nodiscard]] virtual Value parse_fallback(const std::string& text) const = 0;
  [[noreturn]] void misuse(const std::string& what) const;

  // Nested schemas, whose reading and writing only fields may call.
  static void read_nested(const SchemaBase& schema, void* object, const Table& table, Diagnostics& diagnostics);
  static void write_nested(const SchemaBase& schema, const void* object, const void* initial, Table& table);
  [[nodiscard]] static bool is_initial_nested(const SchemaBase& schema, const void* object, const void* initial);

 private:
  std::string key_, help_, fallback_text_;
  bool optional_ = false, names_file_ = false, may_be_open_ = false;
  std::optional<Value> fallback_;
};

/// A member of the object that a field belongs to.
template <class V>
struct Access {
  std::function<V(const void*)> get;
  std::function<void(void*, V)> set;
};
struct TableAccess {
  std::function<const void*(const void*)> get;
  std::function<void*(void*)> change;
};
struct ListAccess {
  std::function<std::size_t(const void*)> size;
  std::function<const void*(const void*, std::size_t)> at;
  std::function<void(void*)> clear;
  std::function<void*(void*)> append;   ///< a new element, as constructed
  std::shared_ptr<const void> initial;  ///< an element as constructed
};

using Field = std::unique_ptr<FieldBase>;
Field quantity_field(const std::string& key, const std::string& help, Access<std::int64_t> member, Unit unit);
Field integer_field(const std::string& key, const std::string& help, Access<std::int64_t> member, std::int64_t lowest,
                    std::int64_t highest);
Field number_field(const std::string& key, const std::string& help, Access<double> member);
Field boolean_field(const std::string& key, const std::string& help, Access<bool> member);
Field text_field(const std::string& key, const std::string& help, Access<std::string> member);
/// The member is the index of its choice; any larger value when it holds none of them.
Field choice_field(const std::string& key, const std::string& help, Access<std::size_t> member,
                   std::vector<std::string> choices);
Field integers_field(const std::string& key, const std::string& help, Access<std::vector<std::int64_t>> member);
Field texts_field(const std::string& key, const std::string& help, Access<std::vector<std::string>> member);
Field table_field(const std::string& key, const std::string& help, TableAccess member, const SchemaBase& schema);
Field tables_field(const std::string& key, const std::string& help, ListAccess member, const SchemaBase& schema);

template <class V, class T, class M>
Access<V> access(M T::*member) {
  return {[member](const void* object) { return static_cast<V>(static_cast<const T*>(object)->*member); },
          [member](void* object, V value) { static_cast<T*>(object)->*member = static_cast<M>(std::move(value)); }};
}

}  // namespace detail

template <class T>
FieldHandle Schema<T>::quantity(const std::string& key, std::int64_t T::*member, Unit unit, const std::string& help) {
  return this->add(detail::quantity_field(key, help, detail::access<std::int64_t>(member), unit));
}

template <class T>
template <class U>
FieldHandle Schema<T>::quantity(const std::string& key, Quantity<U> T::*member, const std::string& help) {
  detail::Access<std::int64_t> count{
      [member](const void* object) { return (static_cast<const T*>(object)->*member).value(); },
      [member](void* object, std::int64_t value) { static_cast<T*>(object)->*member = Quantity<U>{value}; }};
  return this->add(detail::quantity_field(key, help, std::move(count), unit_of(Quantity<U>{})));
}

template <class T>
FieldHandle Schema<T>::integer(const std::string& key, std::int64_t T::*member, const std::string& help) {
  using Limits = std::numeric_limits<std::int64_t>;
  return this->add(
      detail::integer_field(key, help, detail::access<std::int64_t>(member), Limits::min(), Limits::max()));
}

template <class T>
FieldHandle Schema<T>::integer(const std::string& key, int T::*member, const std::string& help) {
  using Limits = std::numeric_limits<int>;
  return this->add(
      detail::integer_field(key, help, detail::access<std::int64_t>(member), Limits::min(), Limits::max()));
}

template <class T>
FieldHandle Schema<T>::number(const std::string& key, double T::*member, const std::string& help) {
  return this->add(detail::number_field(key, help, detail::access<double>(member)));
}

template <class T>
FieldHandle Schema<T>::boolean(const std::string& key, bool T::*member, const std::string& help) {
  return this->add(detail::boolean_field(key, help, detail::access<bool>(member)));
}

template <class T>
FieldHandle Schema<T>::text(const std::string& key, std::string T::*member, const std::string& help) {
  return this->add(detail::text_field(key, help, detail::access<std::string>(member)));
}

template <class T>
FieldHandle Schema<T>::choice(const std::string& key, std::string T::*member, std::vector<std::string> choices,
                              const std::string& help) {
  detail::Access<std::size_t> index{
      [member, choices](const void* object) {
        const std::string& text = static_cast<const T*>(object)->*member;
        return static_cast<std::size_t>(std::find(choices.begin(), choices.end(), text) - choices.begin());
      },
      [member, choices](void* object, std::size_t i) { static_cast<T*>(object)->*member = choices[i]; }};
  return this->add(detail::choice_field(key, help, std::move(index), choices));
}

template <class T>
template <class E>
FieldHandle Schema<T>::choice(const std::string& key, E T::*member, std::vector<std::pair<std::string, E>> choices,
                              const std::string& help) {
  std::vector<std::string> names;
  for (const auto& choice : choices) names.push_back(choice.first);
  detail::Access<std::size_t> index{
      [member, choices](const void* object) {
        const E value = static_cast<const T*>(object)->*member;
        const auto has_value = [&](const auto& choice) { return choice.second == value; };
        return static_cast<std::size_t>(std::find_if(choices.begin(), choices.end(), has_value) - choices.begin());
      },
      [member, choices](void* object, std::size_t i) { static_cast<T*>(object)->*member = choices[i].second; }};
  return this->add(detail::choice_field(key, help, std::move(index), std::move(names)));
}

template <class T>
FieldHandle Schema<T>::integers(const std::string& key, std::vector<std::int64_t> T::*member, const std::string& help) {
  return this->add(detail::integers_field(key, help, detail::access<std::vector<std::int64_t>>(member)));
}

template <class T>
FieldHandle Schema<T>::texts(const std::string& key, std::vector<std::string> T::*member, const std::string& help) {
  return this->add(detail::texts_field(key, help, detail::access<std::vector<std::string>>(member)));
}

template <class T>
template <class U>
FieldHandle Schema<T>::table(const std::string& key, U T::*member, const Schema<U>& schema, const std::string& help) {
  detail::TableAccess nested{
      [member](const void* object) -> const void* { return &(static_cast<const T*>(object)->*member); },
      [member](void* object) -> void* { return &(static_cast<T*>(object)->*member); }};
  return this->add(detail::table_field(key, help, std::move(nested), schema));
}

template <class T>
template <class U>
FieldHandle Schema<T>::tables(const std::string& key, std::vector<U> T::*member, const Schema<U>& schema,
                              const std::string& help) {
  const auto list = [member](const void* object) -> const std::vector<U>& {
    return static_cast<const T*>(object)->*member;
  };
  detail::ListAccess elements{
      [list](const void* object) { return list(object).size(); },
      [list](const void* object, std::size_t i) -> const void* { return &list(object)[i]; },
      [member](void* object) { (static_cast<T*>(object)->*member).clear(); },
      [member](void* object) -> void* { return &(static_cast<T*>(object)->*member).emplace_back(); },
      std::make_shared<const U>()};
  return this->add(detail::tables_field(key, help, std::move(elements), schema));
}

}  // namespace tessera::config
