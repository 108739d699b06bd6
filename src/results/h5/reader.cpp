#include "reader.hpp"

#include <fcntl.h>
#include <hdf5.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "../tables.hpp"
#include "tessera/base/error.hpp"
#include "types.hpp"

namespace tessera::results::h5 {
namespace {

[[noreturn]] void cannot_read(const std::string& path, const std::string& reason) {
  throw IoError("cannot read '" + path + "': " + reason);
}

/// Reasons of the operating system come before those of HDF5, which are long.
void check_readable(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) cannot_read(path, "it is a directory");
  const int file = ::open(path.c_str(), O_RDONLY);
  if (file < 0) cannot_read(path, std::strerror(errno));
  ::close(file);
}

Handle open_file(const std::string& path) {
  check_readable(path);
  const Id file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access_without_locks().get());
  if (file < 0) throw InputError("'" + path + "' is not an HDF5 file, or a damaged one");
  return {file, H5Fclose};
}

std::string member_name(Id type, unsigned index) {
  char* name = H5Tget_member_name(type, index);
  std::string copy = name;
  H5free_memory(name);
  return copy;
}

/// The columns as Rows holds them: integers as int64, real numbers as double.
TableSchema schema_of(Id type, const std::string& path) {
  TableSchema schema{path, {}, {}, 0};
  const int members = static_cast<int>(checked(H5Tget_nmembers(type)));
  for (unsigned i = 0; i < static_cast<unsigned>(members); ++i) {
    Column column{member_name(type, i), {}, {}, ColumnType::int64, schema.row_bytes, 8};
    const H5T_class_t kind = H5Tget_member_class(type, i);
    if (kind == H5T_FLOAT) column.type = ColumnType::float64;
    if (kind == H5T_STRING) {
      column.type = ColumnType::text;
      column.width = H5Tget_size(Handle(H5Tget_member_type(type, i), H5Tclose).get());
    }
    schema.row_bytes += column.width;
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

}  // namespace

std::size_t Rows::column(std::string_view name) const {
  for (std::size_t i = 0; i < schema_.columns.size(); ++i) {
    if (schema_.columns[i].name == name) return i;
  }
  throw InputError("table " + schema_.path + " has no column '" + std::string(name) + "'");
}

std::int64_t Rows::integer(std::size_t row, std::size_t column) const {
  std::int64_t value = 0;
  std::memcpy(&value, bytes_.data() + row * schema_.row_bytes + schema_.columns[column].offset, sizeof value);
  return value;
}

double Rows::number(std::size_t row, std::size_t column) const {
  double value = 0;
  std::memcpy(&value, bytes_.data() + row * schema_.row_bytes + schema_.columns[column].offset, sizeof value);
  return value;
}

std::string Rows::text(std::size_t row, std::size_t column) const {
  const Column& c = schema_.columns[column];
  const char* begin = reinterpret_cast<const char*>(bytes_.data() + row * schema_.row_bytes + c.offset);
  return {begin, strnlen(begin, c.width)};
}

Reader::Reader(const std::string& path) : path_(path), file_(open_file(path)) { check_format(); }

void Reader::check_format() const {
  if (!has("/summary") || H5Aexists(file_.get(), "schema_version") <= 0) {
    throw InputError("'" + path_ + "' is not a result file of tessera run");
  }
  std::int64_t version = 0;
  const Handle attribute(H5Aopen(file_.get(), "schema_version", H5P_DEFAULT), H5Aclose);
  checked(H5Aread(attribute.get(), H5T_NATIVE_INT64, &version));
  if (version != schema_version) {
    throw InputError("'" + path_ + "' has schema version " + std::to_string(version) + ", this program reads version " +
                     std::to_string(schema_version));
  }
}

bool Reader::has(const std::string& table) const { return H5Lexists(file_.get(), table.c_str(), H5P_DEFAULT) > 0; }

Handle Reader::open(const std::string& table) const {
  const Id dataset = has(table) ? H5Dopen2(file_.get(), table.c_str(), H5P_DEFAULT) : -1;
  if (dataset < 0) throw InputError("'" + path_ + "' has no table " + table);
  return {dataset, H5Dclose};
}

std::int64_t Reader::rows(const std::string& table) const {
  const Handle dataset = open(table);
  const Handle space(H5Dget_space(dataset.get()), H5Sclose);
  return checked(H5Sget_simple_extent_npoints(space.get()));
}

Rows Reader::read(const std::string& table, std::int64_t first, std::int64_t count) const {
  const Handle dataset = open(table);
  TableSchema schema = schema_of(Handle(H5Dget_type(dataset.get()), H5Tclose).get(), table);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * schema.row_bytes);
  if (count > 0) {
    const auto start = static_cast<hsize_t>(first);
    const auto extent = static_cast<hsize_t>(count);
    const Handle in_file(H5Dget_space(dataset.get()), H5Sclose);
    checked(H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, &start, nullptr, &extent, nullptr));
    const Handle in_memory(H5Screate_simple(1, &extent, nullptr), H5Sclose);
    const Handle type = row_type(schema, true);
    if (H5Dread(dataset.get(), type.get(), in_memory.get(), in_file.get(), H5P_DEFAULT, bytes.data()) < 0) {
      cannot_read(path_, "table " + table + " is damaged");
    }
  }
  return {std::move(schema), std::move(bytes)};
}

}  // namespace tessera::results::h5
