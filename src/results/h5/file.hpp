// An HDF5 file that is being written, and the few kinds of objects that Tessera puts into one.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "../layout.hpp"
#include "../table.hpp"
#include "handle.hpp"

namespace tessera::results::h5 {

/// Objects carry no creation times, so equal contents make equal files.
class File {
 public:
  /// A new file by this process alone; the name must be free or that of an empty file.
  [[nodiscard]] static File create(const std::string& path);
  /// An existing file, written further by this process alone.
  [[nodiscard]] static File open(const std::string& path);
  explicit File(Handle file) : file_(std::move(file)) {}

  void close() { file_.close(); }
  void group(const std::string& path, const std::string& description);
  /// A compound dataset with room for `rows` rows, and its attributes units, description, column_units,
  /// column_descriptions.
  void table(const TableSchema& schema, std::int64_t rows);
  /// A scalar dataset of fixed-length UTF-8 text.
  void text(const std::string& path, const std::string& value, const std::string& description);
  void attribute(const std::string& object, const std::string& name, const std::string& value);
  void attribute(const std::string& object, const std::string& name, std::int64_t value);
  /// Packed rows into `runs` of an existing table. `transfer`: a data transfer property list, 0 for the default.
  void write(const TableSchema& schema, const std::vector<Run>& runs, const std::vector<std::byte>& rows,
             Id transfer = 0);

 private:
  Handle file_;
};

}  // namespace tessera::results::h5
