// The shape of a table, apart from where it is written: columns with name, unit and meaning, and how a row fills them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::results {

/// What a column holds. In the file: little-endian two's complement and IEEE numbers, fixed-length null-padded UTF-8
/// text.
enum class ColumnType { int32, int64, float64, text };

struct Column {
  std::string name;  ///< as in the file; times end in _ps
  std::string unit;  ///< "ps", "B", "B/s", "FLOP", "1" for counts, indices and ratios, "text"
  std::string description;
  ColumnType type = ColumnType::int64;
  std::size_t offset = 0;  ///< B from the start of a packed row
  std::size_t width = 8;   ///< B
};

/// A compound dataset of the file.
struct TableSchema {
  std::string path;  ///< "/devices"
  std::string description;
  std::vector<Column> columns;
  std::size_t row_bytes = 0;
};

/// A schema with the getters that fill packed rows from plain structs. Getters may refer to what outlives the table.
template <class Row>
class Table {
 public:
  Table(std::string path, std::string description) : schema_{std::move(path), std::move(description), {}, 0} {}

  /// A count, an index or an identifier below 2^31.
  Table& index(std::string name, std::string description, std::function<std::int64_t(const Row&)> get) {
    integers_.push_back({schema_.columns.size(), std::move(get)});
    return add({std::move(name), "1", std::move(description), ColumnType::int32, 0, 4});
  }
  Table& integer(std::string name, std::string unit, std::string description,
                 std::function<std::int64_t(const Row&)> get) {
    integers_.push_back({schema_.columns.size(), std::move(get)});
    return add({std::move(name), std::move(unit), std::move(description), ColumnType::int64, 0, 8});
  }
  Table& number(std::string name, std::string unit, std::string description, std::function<double(const Row&)> get) {
    numbers_.push_back({schema_.columns.size(), std::move(get)});
    return add({std::move(name), std::move(unit), std::move(description), ColumnType::float64, 0, 8});
  }
  /// `width` in bytes: that of the longest text that any rank writes; longer ones are cut.
  Table& text(std::string name, std::string description, std::size_t width,
              std::function<std::string_view(const Row&)> get) {
    texts_.push_back({schema_.columns.size(), std::move(get)});
    return add({std::move(name), "text", std::move(description), ColumnType::text, 0, width == 0 ? 1 : width});
  }

  [[nodiscard]] const TableSchema& schema() const { return schema_; }

  /// Writes one row to `to`, which has room for schema().row_bytes.
  void pack(const Row& row, std::byte* to) const {
    for (const auto& [column, get] : integers_) {
      const Column& c = schema_.columns[column];
      const std::int64_t value = get(row);
      if (c.type == ColumnType::int32) {
        const auto narrow = static_cast<std::int32_t>(value);
        std::memcpy(to + c.offset, &narrow, sizeof narrow);
      } else {
        std::memcpy(to + c.offset, &value, sizeof value);
      }
    }
    for (const auto& [column, get] : numbers_) {
      const double value = get(row);
      std::memcpy(to + schema_.columns[column].offset, &value, sizeof value);
    }
    for (const auto& [column, get] : texts_) {
      const Column& c = schema_.columns[column];
      const std::string_view value = get(row);
      std::memset(to + c.offset, 0, c.width);
      std::memcpy(to + c.offset, value.data(), value.size() < c.width ? value.size() : c.width);
    }
  }

 private:
  template <class Value>
  struct Getter {
    std::size_t column;
    std::function<Value(const Row&)> get;
  };

  Table& add(Column column) {
    column.offset = schema_.row_bytes;
    schema_.row_bytes += column.width;
    schema_.columns.push_back(std::move(column));
    return *this;
  }

  TableSchema schema_;
  std::vector<Getter<std::int64_t>> integers_;
  std::vector<Getter<double>> numbers_;
  std::vector<Getter<std::string_view>> texts_;
};

/// Width of the longest of `texts`, for fixed-length columns.
[[nodiscard]] inline std::size_t longest(const std::vector<std::string>& texts) {
  std::size_t width = 1;
  for (const std::string& text : texts) width = text.size() > width ? text.size() : width;
  return width;
}

}  // namespace tessera::results
