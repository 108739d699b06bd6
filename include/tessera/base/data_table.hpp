// Tables as plain data: what makes them and what writes them into files know nothing of each other.
//
//   DataTable load{"load", "Work of the devices, one a row.", {}};
//   load.index("device", "number of the device", {0, 1}).integer("busy_ps", "ps", "in which it computes", {70, 50});
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tessera/base/error.hpp"

namespace tessera {

/// Columns of one length, each of one type.
struct DataTable {
  /// In files these are columns of int32, int64, float64 and text.
  using Values =
      std::variant<std::vector<std::int32_t>, std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;
  struct Column {
    std::string name;  ///< letters, digits and _; times end in _ps
    std::string unit;  ///< "ps", "B", "B/s", "FLOP", "1" of counts, indices and ratios, "text"
    std::string description;
    Values values;

    [[nodiscard]] std::size_t size() const {
      return std::visit([](const auto& all) { return all.size(); }, values);
    }

    template <class Archive>
    void serialize(Archive& archive, unsigned) {
      std::size_t type = values.index();
      archive& name& unit& description& type;
      if constexpr (Archive::is_loading::value) values = none_of(type);
      std::visit([&archive](auto& all) { archive& all; }, values);
    }
  };

  std::string name;         ///< letters, digits and _
  std::string description;  ///< what a row is, in a sentence
  std::vector<Column> columns;

  /// A count, an index or an identifier below 2^31.
  DataTable& index(std::string column, std::string meaning, std::vector<std::int32_t> values) {
    return add(std::move(column), "1", std::move(meaning), std::move(values));
  }
  DataTable& integer(std::string column, std::string unit, std::string meaning, std::vector<std::int64_t> values) {
    return add(std::move(column), std::move(unit), std::move(meaning), std::move(values));
  }
  DataTable& number(std::string column, std::string unit, std::string meaning, std::vector<double> values) {
    return add(std::move(column), std::move(unit), std::move(meaning), std::move(values));
  }
  DataTable& text(std::string column, std::string meaning, std::vector<std::string> values) {
    return add(std::move(column), "text", std::move(meaning), std::move(values));
  }

  [[nodiscard]] std::size_t rows() const { return columns.empty() ? 0 : columns.front().size(); }

  /// InputError where the table has no such column, or one of another type.
  template <class Value>
  [[nodiscard]] const std::vector<Value>& values(std::string_view column) const {
    for (const Column& one : columns) {
      const auto* found = std::get_if<std::vector<Value>>(&one.values);
      if (one.name == column && found != nullptr) return *found;
    }
    throw InputError("table \"" + name + "\" has no column \"" + std::string(column) +
                     "\" of the type that is expected");
  }

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& name& description& columns;
  }

 private:
  DataTable& add(std::string column, std::string unit, std::string meaning, Values values) {
    columns.push_back({std::move(column), std::move(unit), std::move(meaning), std::move(values)});
    return *this;
  }
  /// No values of the type of this index.
  [[nodiscard]] static Values none_of(std::size_t type);
};

/// Why nobody can write or show it: a name that is none, two columns of one name, a column without a unit or of another
/// length than the first one, no column at all. Empty: nothing.
[[nodiscard]] std::string problem_of(const DataTable& table);

/// A column of rows that are structs: values_of(rows, &Row::time).
template <class Row, class Value>
[[nodiscard]] std::vector<Value> values_of(const std::vector<Row>& rows, Value Row::*member) {
  std::vector<Value> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(row.*member);
  return values;
}

}  // namespace tessera
