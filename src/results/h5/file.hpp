// An HDF5 file that is being made in memory, and the few kinds of objects that Tessera puts into one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../table.hpp"
#include "handle.hpp"
#include "image.hpp"

namespace tessera::results::h5 {

/// Objects carry no creation times, so equal contents make equal files. In the format of HDF5 1.8, the oldest that has
/// checksums over everything of HDF5's own but the texts of attributes.
class File {
 public:
  /// `image` outlives it.
  [[nodiscard]] static File create(Image& image);

  void flush();
  void close() { file_.close(); }
  void group(const std::string& path, const std::string& description);
  /// A compound dataset with room for `rows` rows, and its attributes units, description, column_units,
  /// column_descriptions.
  void table(const TableSchema& schema, std::int64_t rows);
  /// All packed rows of an existing table.
  void write(const TableSchema& schema, const std::vector<std::byte>& rows);
  /// Where the rows of a table that has any begin in the file, B.
  [[nodiscard]] std::int64_t offset(const std::string& table) const;
  /// A scalar dataset of fixed-length UTF-8 text, which is not empty.
  void text(const std::string& path, const std::string& value, const std::string& description);
  /// A dataset of rows x columns 32-bit floating-point numbers, row-major.
  void matrix(const std::string& path, const std::vector<float>& values, std::uint64_t rows, std::uint64_t columns,
              const std::string& description);
  void attribute(const std::string& object, const std::string& name, const std::string& value);
  /// A second time, its value.
  void attribute(const std::string& object, const std::string& name, std::int64_t value);
  /// Rows of `columns` numbers each.
  void attribute(const std::string& object, const std::string& name, const std::vector<std::int64_t>& values,
                 std::size_t columns);
  /// The attribute crc32 of a dataset; a second time, its value.
  void checksum(const std::string& dataset, std::uint32_t crc32);

 private:
  explicit File(Handle file) : file_(std::move(file)) {}
  Handle file_;
};

}  // namespace tessera::results::h5
