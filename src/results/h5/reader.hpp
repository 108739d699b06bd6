// Tables of a finished file, by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "../table.hpp"
#include "handle.hpp"
#include "tessera/results/results.hpp"

namespace tessera::results::h5 {

/// Some rows of a table in memory. Integers of any size are read as int64. What a damaged file does not have (a column,
/// a row, a column of that type) is an IoError that names file and table.
class Rows {
 public:
  Rows(std::string file, TableSchema schema, std::vector<std::byte> bytes)
      : file_(std::move(file)), schema_(std::move(schema)), bytes_(std::move(bytes)) {}
  [[nodiscard]] std::size_t size() const { return bytes_.size() / schema_.row_bytes; }
  /// Index of a column.
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
  /// IoError "cannot read 'file': table /name is damaged: `problem`".
  [[noreturn]] void damaged(const std::string& problem) const;

 private:
  [[nodiscard]] const std::byte* cell(std::size_t row, std::size_t column, ColumnType type) const;

  std::string file_;
  TableSchema schema_;
  std::vector<std::byte> bytes_;
};

/// What a file says that it is: results of one run, a table of many, what a search tried, or a policy.
enum class FileKind { run, points, history, policy };

class Reader {
 public:
  /// IoError "cannot read 'path': reason", with the name of the table where one is damaged; InputError when it is not
  /// of that kind, or one of a later schema.
  explicit Reader(const std::string& path, Checking checking = Checking::all, FileKind kind = FileKind::run);
  /// Of a file that is in memory already; `path` names it in messages.
  Reader(const std::string& path, const std::string& bytes, Checking checking, FileKind kind);
  [[nodiscard]] bool has(const std::string& table) const;
  /// Of the schema (tables.hpp).
  [[nodiscard]] std::int64_t version() const { return version_; }
  [[nodiscard]] std::int64_t rows(const std::string& table) const;
  [[nodiscard]] Rows read(const std::string& table) const { return read(table, 0, rows(table)); }
  [[nodiscard]] Rows read(const std::string& table, std::int64_t first, std::int64_t count) const;
  /// What a table says of itself: its description, and units and descriptions of its columns, in their order.
  struct Texts {
    std::string description;
    std::vector<std::string> units, descriptions;
  };
  [[nodiscard]] Texts texts(const std::string& table) const;
  /// A scalar dataset of text, and its description.
  struct Text {
    std::string value, description;
  };
  [[nodiscard]] Text text(const std::string& path) const;
  /// Numbers in rows and columns, and what they are.
  struct Matrix {
    std::uint64_t rows = 0, columns = 0;
    std::vector<float> values;
    std::string description;
  };
  [[nodiscard]] Matrix matrix(const std::string& path) const;
  /// Paths of all tables, sorted.
  [[nodiscard]] std::vector<std::string> tables() const;
  /// Names of the objects in a group, sorted.
  [[nodiscard]] std::vector<std::string> members(const std::string& group) const;
  /// A text attribute of the file itself; empty when there is none.
  [[nodiscard]] std::string attribute(const char* name) const;
  /// Datasets that have a checksum, and those that have none.
  struct Coverage {
    std::vector<std::string> with, without;
  };
  [[nodiscard]] Coverage coverage() const;

 private:
  [[nodiscard]] std::int64_t checked_version(FileKind kind) const;
  /// Bytes of the file as it is stored, from an offset on.
  using ReadBytes = std::function<void(std::int64_t offset, std::byte* to, std::size_t count)>;
  void check(Checking checking, FileKind kind, std::int64_t size, const ReadBytes& read);
  void check_text_blocks(std::int64_t size, const ReadBytes& read) const;
  void check_table(const std::string& table) const;
  [[nodiscard]] Handle open(const std::string& table) const;
  /// What a damaged file makes HDF5 refuse becomes the user's message.
  template <class Action>
  auto guarded(Action action) const -> decltype(action());

  QuietErrors quiet_;
  std::string path_;
  Handle file_;
  std::int64_t version_ = 0;
};

/// What the file says that it is; `run` when it cannot be opened or says nothing that is known.
[[nodiscard]] FileKind kind_of(const std::string& path);

}  // namespace tessera::results::h5
