#include <cstring>

#include "reader.hpp"
#include "tessera/base/error.hpp"

namespace tessera::results::h5 {

void Rows::damaged(const std::string& problem) const {
  throw IoError("cannot read '" + file_ + "': table " + schema_.path + " is damaged: " + problem);
}

std::size_t Rows::column(std::string_view name) const {
  for (std::size_t i = 0; i < schema_.columns.size(); ++i) {
    if (schema_.columns[i].name == name) return i;
  }
  damaged("it has no column '" + std::string(name) + "'");
}

const std::byte* Rows::cell(std::size_t row, std::size_t column, ColumnType type) const {
  const Column& c = schema_.columns[column];
  if (c.type != type) damaged("column '" + c.name + "' is of another type");
  if (row >= size()) damaged("it has only " + std::to_string(size()) + " rows");
  return bytes_.data() + row * schema_.row_bytes + c.offset;
}

std::int64_t Rows::integer(std::size_t row, std::size_t column) const {
  std::int64_t value = 0;
  std::memcpy(&value, cell(row, column, ColumnType::int64), sizeof value);
  return value;
}

double Rows::number(std::size_t row, std::size_t column) const {
  // Sums were whole numbers in files of earlier versions.
  if (schema_.columns[column].type == ColumnType::int64) return static_cast<double>(integer(row, column));
  double value = 0;
  std::memcpy(&value, cell(row, column, ColumnType::float64), sizeof value);
  return value;
}

std::string Rows::text(std::size_t row, std::size_t column) const {
  const char* begin = reinterpret_cast<const char*>(cell(row, column, ColumnType::text));
  return {begin, strnlen(begin, schema_.columns[column].width)};
}

}  // namespace tessera::results::h5
