// Tables of a finished file, by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "../table.hpp"
#include "handle.hpp"

namespace tessera::results::h5 {

/// Some rows of a table in memory. Integers of any size are read as int64.
class Rows {
 public:
  Rows(TableSchema schema, std::vector<std::byte> bytes) : schema_(std::move(schema)), bytes_(std::move(bytes)) {}
  [[nodiscard]] std::size_t size() const { return bytes_.size() / schema_.row_bytes; }
  /// Index of a column; InputError when the table has none of that name.
  [[nodiscard]] std::size_t column(std::string_view name) const;
  [[nodiscard]] const std::vector<Column>& columns() const { return schema_.columns; }
  [[nodiscard]] std::int64_t integer(std::size_t row, std::size_t column) const;
  [[nodiscard]] double number(std::size_t row, std::size_t column) const;
  [[nodiscard]] std::string text(std::size_t row, std::size_t column) const;
  /// By name, for tables of few rows.
  [[nodiscard]] std::int64_t integer(std::size_t row, std::string_view name) const {
    return integer(row, column(name));
  }
  [[nodiscard]] double number(std::size_t row, std::string_view name) const { return number(row, column(name)); }
  [[nodiscard]] std::string text(std::size_t row, std::string_view name) const { return text(row, column(name)); }

 private:
  TableSchema schema_;
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  /// IoError "cannot read 'path': reason"; InputError when it is not a result of Tessera, or one of a later schema.
  explicit Reader(const std::string& path);
  [[nodiscard]] bool has(const std::string& table) const;
  [[nodiscard]] std::int64_t rows(const std::string& table) const;
  [[nodiscard]] Rows read(const std::string& table) const { return read(table, 0, rows(table)); }
  [[nodiscard]] Rows read(const std::string& table, std::int64_t first, std::int64_t count) const;

 private:
  void check_format() const;
  [[nodiscard]] Handle open(const std::string& table) const;

  QuietErrors quiet_;
  std::string path_;
  Handle file_;
};

}  // namespace tessera::results::h5
