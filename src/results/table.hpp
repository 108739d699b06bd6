// The shape of a table, apart from where it is written: columns with name, unit and meaning, and how a row fills them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
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

/// A schema with what fills packed rows from plain structs: functions of a row, which may refer to what outlives the
/// table.
template <class Row>
class Table {
 public:
  Table(std::string path, std::string description) : schema_{std::move(path), std::move(description), {}, 0} {}

  /// A count, an index or an identifier below 2^31.
  template <class Get>
  Table& index(std::string name, std::string description, Get get) {
    return add({std::move(name), "1", std::move(description), ColumnType::int32, 0, 4},
               numbers<std::int32_t>(std::move(get)));
  }
  template <class Get>
  Table& integer(std::string name, std::string unit, std::string description, Get get) {
    return add({std::move(name), std::move(unit), std::move(description), ColumnType::int64, 0, 8},
               numbers<std::int64_t>(std::move(get)));
  }
  template <class Get>
  Table& number(std::string name, std::string unit, std::string description, Get get) {
    return add({std::move(name), std::move(unit), std::move(description), ColumnType::float64, 0, 8},
               numbers<double>(std::move(get)));
  }
  /// `width` in bytes: that of the longest text that any rank writes; longer ones are cut.
  template <class Get>
  Table& text(std::string name, std::string description, std::size_t width, Get get) {
    const std::size_t room = width == 0 ? 1 : width;
    return add({std::move(name), "text", std::move(description), ColumnType::text, 0, room},
               [get = std::move(get), room](std::span<const Row> rows, std::byte* to, std::size_t row_bytes) {
                 for (const Row& row : rows) {
                   const std::string_view value = get(row);
                   std::memset(to, 0, room);
                   if (!value.empty()) std::memcpy(to, value.data(), value.size() < room ? value.size() : room);
                   to += row_bytes;
                 }
               });
  }

  [[nodiscard]] const TableSchema& schema() const { return schema_; }

  /// Writes the rows to `to`, which has room for schema().row_bytes of each. Column by column, so that a column costs
  /// one call and not one a row: rows of which some fit into the cache go quickest.
  void pack(std::span<const Row> rows, std::byte* to) const {
    for (std::size_t i = 0; i < fills_.size(); ++i) fills_[i](rows, to + schema_.columns[i].offset, schema_.row_bytes);
  }
  void pack(const Row& row, std::byte* to) const { pack({&row, 1}, to); }

 private:
  /// Writes a column's cells, the first one to `to`, each `row_bytes` behind the one before.
  using Fill = std::function<void(std::span<const Row> rows, std::byte* to, std::size_t row_bytes)>;

  template <class Value, class Get>
  static Fill numbers(Get get) {
    return [get = std::move(get)](std::span<const Row> rows, std::byte* to, std::size_t row_bytes) {
      for (const Row& row : rows) {
        const auto value = static_cast<Value>(get(row));
        std::memcpy(to, &value, sizeof value);
        to += row_bytes;
      }
    };
  }
  Table& add(Column column, Fill fill) {
    column.offset = schema_.row_bytes;
    schema_.row_bytes += column.width;
    schema_.columns.push_back(std::move(column));
    fills_.push_back(std::move(fill));
    return *this;
  }

  TableSchema schema_;
  std::vector<Fill> fills_;
};

/// Width of the longest of `texts`, for fixed-length columns.
[[nodiscard]] inline std::size_t longest(const std::vector<std::string>& texts) {
  std::size_t width = 1;
  for (const std::string& text : texts) width = text.size() > width ? text.size() : width;
  return width;
}

}  // namespace tessera::results
