// Typed reading of TOML. A parameter is declared once, in a Schema: that line parses it, checks it, prints it
// in the resolved experiment and documents it for `tessera help` (STYLE 10).
//
//   const Schema<LinkSpec>& link_schema() {
//     static const Schema<LinkSpec> schema = [] {
//       Schema<LinkSpec> s("machine.link", "A point-to-point link, per direction.");
//       s.quantity("bandwidth", &LinkSpec::bandwidth, "per direction").at_least("1 B/s");  // a BytesPerSecond
//       s.quantity("latency", &LinkSpec::latency, "propagation").otherwise("500 ns");      // a Duration
//       return s;
//     }();
//     return schema;
//   }
//   LinkSpec spec = link_schema().read(table, diagnostics);
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/base/quantities.hpp"

namespace tessera::config {

/// What a quantity measures; fixes the suffixes that are accepted and the integer that is stored:
/// time ps, bytes B, bandwidth B/s, compute FLOP/s, frequency Hz, length um, power mW. GB = 10^9 B, GiB = 2^30 B, Gb/s
/// = 10^9 bit/s.
enum class Unit { time, bytes, bandwidth, compute, frequency, length, power };

/// "150 GB/s" -> 150'000'000'000. Parsed whole: "12abc GB" is refused. Returns an error text in `problem`
/// ("\"150 GB\" is a size, expected a bandwidth such as \"150 GB/s\"") instead of throwing.
[[nodiscard]] std::optional<std::int64_t> parse_quantity(std::string_view text, Unit unit, std::string& problem);
/// Exact round trip, in the largest unit that stays exact: "150 GB/s", "500 ns", "80 GB".
[[nodiscard]] std::string format_quantity(std::int64_t value, Unit unit);
/// For people: three significant digits, "18.1 s", "1.32 ms", "74.2 GB".
[[nodiscard]] std::string format_rounded(std::int64_t value, Unit unit);
/// How quantities of a type of their own are written; there is no text of a Flop.
[[nodiscard]] constexpr Unit unit_of(Duration) { return Unit::time; }
[[nodiscard]] constexpr Unit unit_of(Bytes) { return Unit::bytes; }
[[nodiscard]] constexpr Unit unit_of(BytesPerSecond) { return Unit::bandwidth; }
[[nodiscard]] constexpr Unit unit_of(FlopPerSecond) { return Unit::compute; }
[[nodiscard]] constexpr Unit unit_of(Length) { return Unit::length; }
template <class U>
[[nodiscard]] std::string format_quantity(Quantity<U> quantity) {
  return format_quantity(quantity.value(), unit_of(quantity));
}
template <class U>
[[nodiscard]] std::string format_rounded(Quantity<U> quantity) {
  return format_rounded(quantity.value(), unit_of(quantity));
}
/// All suffixes that parse_quantity accepts, smallest first in each family of prefixes.
[[nodiscard]] std::vector<std::string> unit_suffixes(Unit unit);
/// The nearest of `choices` when it is near enough to be a typing error; empty otherwise.
[[nodiscard]] std::string did_you_mean(std::string_view word, const std::vector<std::string>& choices);
/// ` (did you mean "name"?)`, or nothing where none is near.
[[nodiscard]] std::string suggestion(std::string_view word, const std::vector<std::string>& choices);
/// `unknown WHAT "nmae" (did you mean "name"?), allowed: name, other`
[[nodiscard]] std::string unknown(std::string_view what, std::string_view word,
                                  const std::vector<std::string>& choices);
/// "name, other"
[[nodiscard]] std::string listed(const std::vector<std::string>& names);

/// Where a value stands; line 0 when the source has no lines (`--set a.b=1`).
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
};
/// "file:line:column", or the source alone when it has no lines.
[[nodiscard]] std::string to_string(const Location& where);

/// Collects problems so that one run reports all of them. Lines read `file:line:column: what is wrong, what is
/// allowed`, printable (base/text.hpp). Both lists are kept sorted by position (files in the order in which they were
/// first named), without repeats; of more than a hundred lines the rest is only counted.
class Diagnostics {
 public:
  void error(const Location& where, const std::string& what) { errors_.add(rank_of(where.file), where, what); }
  void warn(const Location& where, const std::string& what) { warnings_.add(rank_of(where.file), where, what); }
  /// Everything that `other` has collected.
  void add(const Diagnostics& other);
  [[nodiscard]] bool ok() const { return errors_.lines.empty(); }
  [[nodiscard]] const std::vector<std::string>& errors() const { return errors_.lines; }
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_.lines; }
  /// Throws InputError with all error lines when there are any.
  void throw_if_errors() const;

 private:
  struct Position {
    std::size_t file;
    int line, column;
    auto operator<=>(const Position&) const = default;
  };
  static constexpr std::size_t most_lines = 100;
  struct Lines {
    std::vector<std::string> lines;
    std::vector<Position> positions;
    std::size_t left_out = 0;
    void add(std::size_t file, const Location& where, const std::string& what);
    void insert(const Position& position, std::string line);
  };
  std::size_t rank_of(const std::string& file);

  std::vector<std::string> files_;
  Lines errors_, warnings_;
};

class Table;
class Value;
using Array = std::vector<Value>;

/// One TOML value and where it stands.
class Value {
 public:
  using Content = std::variant<bool, std::int64_t, double, std::string, Array, std::shared_ptr<Table>>;
  Value() = default;
  Value(Content content, Location where) : content_(std::move(content)), where_(std::move(where)), key_where_(where_) {}
  Value(Content content, Location where, Location key_where)
      : content_(std::move(content)), where_(std::move(where)), key_where_(std::move(key_where)) {}
  [[nodiscard]] const Content& content() const { return content_; }
  [[nodiscard]] const Location& where() const { return where_; }
  [[nodiscard]] const Location& key_where() const { return key_where_; }  ///< of the key in front of it
  [[nodiscard]] const Table* table() const;                               ///< null when it is something else
  [[nodiscard]] Table* table();
  [[nodiscard]] const Array* array() const;
  [[nodiscard]] const std::string* string() const;
  [[nodiscard]] std::string type_name() const;  ///< "a string", "a table", for messages

 private:
  Content content_ = false;
  Location where_;
  Location key_where_;
};

/// Keys in the order of the file.
class Table {
 public:
  explicit Table(Location where = {}) : where_(std::move(where)) {}
  [[nodiscard]] const Location& where() const { return where_; }
  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] Value* find(std::string_view key);
  void set(const std::string& key, Value value);     ///< replaces or appends
  void append(const std::string& key, Value value);  ///< of a key that is known to be new: does not look for it
  void erase(std::string_view key);
  [[nodiscard]] const std::vector<std::pair<std::string, Value>>& entries() const { return entries_; }

 private:
  Location where_;
  std::vector<std::pair<std::string, Value>> entries_;
};

/// Tables and lists within each other, at most: everything that walks over a tree may use recursion.
inline constexpr int most_levels = 256;

/// Parses TOML text; syntax errors and more than most_levels go to `diagnostics` with line and column.
[[nodiscard]] std::shared_ptr<Table> parse_toml(const std::string& text, const std::string& file,
                                                Diagnostics& diagnostics);
/// The text of a table as TOML; parse_toml(to_toml(t)) equals t.
[[nodiscard]] std::string to_toml(const Table& table);
/// Every key of `over` replaces that of `base`; tables merge key by key. Nothing is shared between the two afterwards.
void merge(Table& base, const Table& over);
/// A deep copy: values share their tables when they are copied.
[[nodiscard]] std::shared_ptr<Table> clone(const Table& table);
/// A deep copy, all of which stands at `where`.
[[nodiscard]] Value relocated(const Value& value, const Location& where);
/// Same keys and values, wherever they stand and in whatever order.
[[nodiscard]] bool same_content(const Table& a, const Table& b);

/// What a Schema knows of one parameter, for help and for messages.
struct ParameterHelp {
  std::string name, type, unit, range, fallback, help;
};

namespace detail {
class FieldBase;
class FieldState;
}  // namespace detail

/// Refinements of the field that was declared last, chained: `.at_least("1 B/s").otherwise("25 GB/s")`.
/// A field without otherwise() or optional() is required. Bounds and defaults are written as the user would write them:
/// texts and quantities without quotes, lists and tables as in TOML ("[1, 2]", "{}"). A quantity is not negative unless
/// at_least() allows it. Misuse (a bound on a text, a default that does not parse, a key declared twice) throws
/// InternalError at once.
class FieldHandle {
 public:
  explicit FieldHandle(detail::FieldState& state) : state_(&state) {}
  FieldHandle& at_least(const std::string& bound);
  FieldHandle& at_most(const std::string& bound);
  FieldHandle& otherwise(const std::string& fallback);
  FieldHandle& optional();     ///< keeps the member's initial value when absent; not printed then
  FieldHandle& names_file();   ///< a text that is the name of a file, relative to the file that it stands in
  FieldHandle& may_be_open();  ///< "any", or a list of values, too: SchemaBase::open_keys()

 private:
  detail::FieldState* state_;
};

/// A key whose value is to be found by a search.
struct OpenKey {
  std::string key;
  Location where;              ///< of "any", or of the list
  std::vector<Value> allowed;  ///< those of the list, in its order; empty: "any"
};

/// The type-erased part of a schema: what `tessera help` and the registry of schemas need.
class SchemaBase {
 public:
  SchemaBase(std::string path, std::string help);
  virtual ~SchemaBase();
  SchemaBase(SchemaBase&&) noexcept;
  SchemaBase& operator=(SchemaBase&&) noexcept;
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& help() const { return help_; }
  [[nodiscard]] std::vector<ParameterHelp> parameters() const;
  /// Keys that the schema accepts but does not read (read elsewhere, e.g. "include", "kind").
  void also_accept(const std::string& key, const std::string& help);
  /// Those whose values name files.
  [[nodiscard]] std::vector<std::string> file_keys() const;
  /// Keys that may be open and are: those with "any" or a list, in the order of their declaration. Reading checks each
  /// value of a list and takes the default.
  [[nodiscard]] std::vector<OpenKey> open_keys(const Table& table) const;
  /// All values of a boolean or of a choice, in the order of their declaration; empty for what has too many.
  [[nodiscard]] std::vector<Value> values_of(const std::string& key) const;
  /// Adds the defaults that `table` leaves out, nested tables included: how an experiment is resolved.
  void complete(Table& table) const;
  /// Reports what read() would report.
  virtual void check(const Table& table, Diagnostics& diagnostics) const = 0;

 protected:
  friend class detail::FieldBase;
  FieldHandle add(std::unique_ptr<detail::FieldBase> field);
  void read_into(void* object, const Table& table, Diagnostics& diagnostics) const;
  /// `initial` is an object as constructed: an optional field that still has its value is not printed.
  void write_from(const void* object, const void* initial, Table& table) const;
  [[nodiscard]] bool is_initial(const void* object, const void* initial) const;

 private:
  void report_unknown_keys(const Table& table, Diagnostics& diagnostics) const;
  static void read_open(const detail::FieldBase& field, void* object, const Value& value, Diagnostics& diagnostics);

  std::string path_, help_;
  std::vector<std::unique_ptr<detail::FieldBase>> fields_;
  std::vector<std::pair<std::string, std::string>> accepted_;
};

/// Declares how a plain struct T is read from and written to a TOML table.
template <class T>
class Schema : public SchemaBase {
 public:
  using SchemaBase::SchemaBase;

  FieldHandle quantity(const std::string& key, std::int64_t T::*member, Unit unit, const std::string& help);
  template <class U>
  FieldHandle quantity(const std::string& key, Quantity<U> T::*member, const std::string& help);  ///< the type's unit
  FieldHandle integer(const std::string& key, std::int64_t T::*member, const std::string& help);
  FieldHandle integer(const std::string& key, int T::*member, const std::string& help);
  FieldHandle number(const std::string& key, double T::*member, const std::string& help);  ///< no unit: ratios
  FieldHandle boolean(const std::string& key, bool T::*member, const std::string& help);
  FieldHandle text(const std::string& key, std::string T::*member, const std::string& help);
  FieldHandle choice(const std::string& key, std::string T::*member, std::vector<std::string> choices,
                     const std::string& help);
  template <class E>
  FieldHandle choice(const std::string& key, E T::*member, std::vector<std::pair<std::string, E>> choices,
                     const std::string& help);
  FieldHandle integers(const std::string& key, std::vector<std::int64_t> T::*member, const std::string& help);
  FieldHandle texts(const std::string& key, std::vector<std::string> T::*member, const std::string& help);
  template <class U>
  FieldHandle table(const std::string& key, U T::*member, const Schema<U>& schema, const std::string& help);
  template <class U>
  FieldHandle tables(const std::string& key, std::vector<U> T::*member, const Schema<U>& schema,
                     const std::string& help);

  /// Reads every field; unknown keys, wrong types, wrong dimensions, missing keys and values out of range are reported,
  /// and reading goes on with the initial value so that all errors of a file come at once.
  [[nodiscard]] T read(const Table& table, Diagnostics& diagnostics) const {
    T object{};
    this->read_into(&object, table, diagnostics);
    return object;
  }
  void check(const Table& table, Diagnostics& diagnostics) const override { (void)read(table, diagnostics); }
  void write(const T& object, Table& table) const {
    const T initial{};
    this->write_from(&object, &initial, table);
  }
};

/// A schema among others, some of which are made for whoever asks.
using SchemaPointer = std::shared_ptr<const SchemaBase>;
/// One that is there for ever.
[[nodiscard]] inline SchemaPointer lasting(const SchemaBase& schema) { return {SchemaPointer(), &schema}; }

/// Names of kinds that are registered, each with a `name`.
template <class Kinds>
[[nodiscard]] std::vector<std::string> names_of(const Kinds& kinds) {
  std::vector<std::string> names;
  for (const auto& kind : kinds) names.push_back(kind.name);
  return names;
}

/// The kind of that name; null, and unknown() reported at `where`, when there is none.
template <class Kinds>
[[nodiscard]] auto* find(const Kinds& kinds, std::string_view what, std::string_view name, const Location& where,
                         Diagnostics& diagnostics) {
  for (const auto& kind : kinds) {
    if (kind.name == name) return &kind;
  }
  diagnostics.error(where, unknown(what, name, names_of(kinds)));
  return static_cast<decltype(&*std::begin(kinds))>(nullptr);
}

}  // namespace tessera::config

#include "tessera/base/config_fields.hpp"
