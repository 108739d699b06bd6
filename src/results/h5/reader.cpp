#include "reader.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "../checksum.hpp"
#include "../disk_file.hpp"
#include "../tables.hpp"
#include "attributes.hpp"
#include "claims.hpp"
#include "tessera/base/error.hpp"
#include "types.hpp"

namespace tessera::results::h5 {
namespace {

[[noreturn]] void cannot_read(const std::string& path, const std::string& reason) {
  throw IoError("cannot read '" + path + "': " + reason);
}

/// Reasons of the operating system come before those of HDF5, which are long; a pipe would be waited for.
void check_readable(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (std::filesystem::is_directory(status)) cannot_read(path, "it is a directory");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    cannot_read(path, "it is not a regular file");
  }
  try {
    (void)DiskFile::open_to_read(path);
  } catch (const Failure& failure) {
    cannot_read(path, failure.what());
  }
}

Handle open_file(const std::string& path) {
  check_readable(path);
  if (H5Fis_hdf5(path.c_str()) <= 0) throw InputError("'" + path + "' is not an HDF5 file");
  const Id file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, access_without_locks().get());
  if (file < 0) cannot_read(path, "the file is damaged or cut short");
  return {file, H5Fclose};
}

/// Of a file that is in memory; `path` only names it.
Handle open_image(const std::string& path, const std::string& bytes) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  constexpr std::size_t growth = 1 << 16;
  checked(H5Pset_fapl_core(access.get(), growth, 0));
  std::string copy = bytes;  // HDF5 takes no constant bytes, though it copies them
  checked(H5Pset_file_image(access.get(), copy.data(), copy.size()));
  // HDF5 refuses an image whose name is a file's: there is none below one.
  const Id file = H5Fopen((path + "/in memory").c_str(), H5F_ACC_RDONLY, access.get());
  if (file < 0) cannot_read(path, "the file is damaged or cut short");
  return {file, H5Fclose};
}

std::string member_name(Id type, unsigned index) {
  char* name = H5Tget_member_name(type, index);
  if (name == nullptr) throw Failure("a column without a name");
  std::string copy = name;
  H5free_memory(name);
  return copy;
}

Column column_of(Id type, unsigned index) {
  Column column{member_name(type, index), {}, {}, ColumnType::int64, 0, 8};
  const Handle member(H5Tget_member_type(type, index), H5Tclose);
  switch (H5Tget_class(member.get())) {
    case H5T_INTEGER:
      return column;
    case H5T_FLOAT:
      column.type = ColumnType::float64;
      return column;
    case H5T_STRING:
      if (checked(H5Tis_variable_str(member.get())) > 0) break;
      column.type = ColumnType::text;
      column.width = H5Tget_size(member.get());
      return column;
    default:
      break;
  }
  throw Failure("column '" + column.name + "' has a type that no column has");
}

/// The columns as Rows holds them: integers as int64, real numbers as double.
TableSchema schema_of(Id type, const std::string& path) {
  TableSchema schema{path, {}, {}, 0};
  if (H5Tget_class(type) != H5T_COMPOUND) throw Failure("it has no columns");
  const int members = static_cast<int>(checked(H5Tget_nmembers(type)));
  for (unsigned i = 0; i < static_cast<unsigned>(members); ++i) {
    Column column = column_of(type, i);
    column.offset = schema.row_bytes;
    schema.row_bytes += column.width;
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

int dimensions_of(Id dataset) {
  return static_cast<int>(checked(H5Sget_simple_extent_ndims(Handle(H5Dget_space(dataset), H5Sclose).get())));
}

std::int64_t count_rows(Id dataset) {
  if (dimensions_of(dataset) > 1) throw Failure("it is not a table");
  return count_elements(dataset);
}

/// Of a dataset of two dimensions.
Reader::Matrix read_matrix(Id dataset) {
  if (dimensions_of(dataset) != 2) throw Failure("it has not two dimensions");
  const Handle space(H5Dget_space(dataset), H5Sclose);
  hsize_t extents[2] = {0, 0};
  checked(H5Sget_simple_extent_dims(space.get(), extents, nullptr));
  if (H5Tget_class(Handle(H5Dget_type(dataset), H5Tclose).get()) != H5T_FLOAT) throw Failure("it holds no numbers");
  Reader::Matrix matrix{extents[0], extents[1], {}, {}};
  matrix.values.resize(static_cast<std::size_t>(count_elements(dataset)));
  checked(H5Dread(dataset, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, matrix.values.data()));
  return matrix;
}

/// Rows first .. first + count - 1 in `type`.
std::vector<std::byte> read_rows(Id dataset, Id type, std::int64_t first, std::int64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * H5Tget_size(type));
  if (count == 0) return bytes;
  const auto start = static_cast<hsize_t>(first);
  const auto extent = static_cast<hsize_t>(count);
  const Handle in_file(H5Dget_space(dataset), H5Sclose);
  const bool is_table = checked(H5Sget_simple_extent_ndims(in_file.get())) > 0;
  if (is_table) checked(H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, &start, nullptr, &extent, nullptr));
  const Handle in_memory(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  checked(H5Dread(dataset, type, in_memory.get(), in_file.get(), H5P_DEFAULT, bytes.data()));
  return bytes;
}

constexpr std::int64_t bytes_at_once = 4 << 20;

/// Of the bytes as they are stored.
std::uint32_t crc32_of_dataset(Id dataset) {
  const Handle type(H5Dget_type(dataset), H5Tclose);
  if (dimensions_of(dataset) > 1) {  // a matrix, which is small
    std::vector<std::byte> bytes(static_cast<std::size_t>(count_elements(dataset)) * H5Tget_size(type.get()));
    checked(H5Dread(dataset, type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()));
    return crc32_of(bytes.data(), bytes.size());
  }
  const std::int64_t rows = count_rows(dataset);
  const std::int64_t at_once =
      std::max<std::int64_t>(1, bytes_at_once / static_cast<std::int64_t>(H5Tget_size(type.get())));
  RunningCrc32 crc;
  for (std::int64_t first = 0; first < rows; first += at_once) {
    const auto bytes = read_rows(dataset, type.get(), first, std::min(at_once, rows - first));
    crc.add(bytes.data(), bytes.size());
  }
  return crc.value();
}

/// What a file of a kind has to have.
struct Expected {
  const char *format, *table, *what;
};

Expected expected_of(FileKind kind) {
  if (kind == FileKind::points) return {points_format_name, "/points", "a table of points (tessera merge)"};
  if (kind == FileKind::history) return {history_format_name, "/provenance", "the history of a search (tessera plan)"};
  if (kind == FileKind::policy) return {policy_format_name, "/provenance", "a policy (tessera train)"};
  return {format_name, "/summary", "a result file of tessera run"};
}

constexpr std::size_t most_text_blocks = 3 << 12;

/// Names in a file. Links by name, which may lead to any file, are none of Tessera's.
struct Names {
  std::vector<std::string> all;
  std::string elsewhere;  ///< one that is such a link

  [[nodiscard]] std::vector<std::string> checked() && {
    if (!elsewhere.empty()) throw Failure(elsewhere + " is a link to somewhere else");
    return std::move(all);
  }
};

herr_t keep_name(hid_t, const char* name, const H5L_info_t* link, void* names) {
  auto& kept = *static_cast<Names*>(names);
  kept.all.push_back(std::string("/") + name);
  if (link->type != H5L_TYPE_HARD) kept.elsewhere = kept.all.back();
  return 0;
}

}  // namespace

template <class Action>
auto Reader::guarded(Action action) const -> decltype(action()) {
  try {
    return action();
  } catch (const Failure& failure) {
    cannot_read(path_, std::string("the file is damaged: ") + failure.what());
  } catch (const std::length_error&) {
    cannot_read(path_, "the file is damaged: a size in it is beyond all memory");
  }
}

Reader::Reader(const std::string& path, Checking checking, FileKind kind)
    : path_(path), file_(guarded([&] { return open_file(path); })) {
  const DiskFile file = DiskFile::open_to_read(path);
  check(checking, kind, static_cast<std::int64_t>(std::filesystem::file_size(path)),
        [&](std::int64_t offset, std::byte* to, std::size_t count) { file.read(offset, to, count); });
}

Reader::Reader(const std::string& path, const std::string& bytes, Checking checking, FileKind kind)
    : path_(path), file_(guarded([&] { return open_image(path, bytes); })) {
  check(checking, kind, static_cast<std::int64_t>(bytes.size()),
        [&](std::int64_t offset, std::byte* to, std::size_t count) { std::memcpy(to, bytes.data() + offset, count); });
}

void Reader::check(Checking checking, FileKind kind, std::int64_t size, const ReadBytes& read) {
  guarded([&] {
    // Texts first: HDF5 believes what stands beside them.
    check_text_blocks(size, read);
    version_ = checked_version(kind);
    if (checking == Checking::none) return;
    for (const std::string& table : coverage().with) check_table(table);
  });
}

std::int64_t Reader::checked_version(FileKind kind) const {
  const auto is_there = [&](const char* name) { return checked(H5Aexists(file_.get(), name)) > 0; };
  // Where the root itself is damaged these fail, which is not the same as being absent.
  const Expected expected = expected_of(kind);
  const bool has_table = checked(H5Lexists(file_.get(), expected.table, H5P_DEFAULT)) > 0;
  const std::string format = is_there("format") ? text_of(file_.get(), "format") : "";
  if (!has_table || !is_there("schema_version") || format != expected.format) {
    throw InputError("'" + path_ + "' is not " + expected.what +
                     (format == points_format_name ? ", but a table of points: tessera show prints it" : ""));
  }
  const std::vector<std::int64_t> version = integers(file_.get(), "schema_version", 1);
  if (version.size() != 1) throw InputError("'" + path_ + "' has a schema version that is not a number");
  if (version[0] < oldest_schema_version || version[0] > schema_version) {
    throw InputError("'" + path_ + "' has schema version " + std::to_string(version[0]) +
                     ", this program reads versions " + std::to_string(oldest_schema_version) + " to " +
                     std::to_string(schema_version));
  }
  return version[0];
}

void Reader::check_text_blocks(std::int64_t size, const ReadBytes& read) const {
  if (!has("/provenance")) return;
  const Handle group(H5Oopen(file_.get(), "/provenance", H5P_DEFAULT), H5Oclose);
  for (const char* name : {text_blocks_attribute, file_bytes_attribute}) {
    if (checked(H5Aexists(group.get(), name)) == 0) return;
  }
  if (integers(group.get(), file_bytes_attribute, 1) != std::vector<std::int64_t>{size}) return;
  const std::vector<std::int64_t> blocks = integers(group.get(), text_blocks_attribute, most_text_blocks);
  for (std::size_t i = 0; i + 2 < blocks.size(); i += 3) {
    const std::int64_t offset = blocks[i], count = blocks[i + 1];
    const bool inside = offset >= 0 && count >= 0 && offset <= size && count <= size - offset;
    std::vector<std::byte> bytes(inside ? static_cast<std::size_t>(count) : 0);
    if (inside) read(offset, bytes.data(), bytes.size());
    if (!inside || crc32_of(bytes.data(), bytes.size()) != blocks[i + 2]) {
      cannot_read(path_, "the file is damaged: units and descriptions differ from their checksum");
    }
  }
}

void Reader::check_table(const std::string& table) const {
  const Handle dataset = open(table);
  const std::vector<std::int64_t> expected = integers(dataset.get(), checksum_attribute, 1);
  if (expected.size() != 1 || crc32_of_dataset(dataset.get()) != expected[0]) {
    cannot_read(path_, "table " + table + " is damaged: it differs from its checksum");
  }
}

Reader::Coverage Reader::coverage() const {
  return guarded([&] {
    Names names;
    checked(H5Lvisit(file_.get(), H5_INDEX_NAME, H5_ITER_INC, keep_name, &names));
    Coverage coverage;
    for (const std::string& name : std::move(names).checked()) {
      const Handle object(H5Oopen(file_.get(), name.c_str(), H5P_DEFAULT), H5Oclose);
      if (H5Iget_type(object.get()) != H5I_DATASET) continue;
      const bool has_checksum = checked(H5Aexists(object.get(), checksum_attribute)) > 0;
      (has_checksum ? coverage.with : coverage.without).push_back(name);
    }
    return coverage;
  });
}

std::vector<std::string> Reader::tables() const {
  const Coverage all = coverage();
  return guarded([&] {
    std::vector<std::string> paths;
    for (const auto* list : {&all.with, &all.without}) {
      for (const std::string& path : *list) {
        const Handle type(H5Dget_type(open(path).get()), H5Tclose);
        if (H5Tget_class(type.get()) == H5T_COMPOUND) paths.push_back(path);
      }
    }
    std::ranges::sort(paths);
    return paths;
  });
}

bool Reader::has(const std::string& table) const { return H5Lexists(file_.get(), table.c_str(), H5P_DEFAULT) > 0; }

Handle Reader::open(const std::string& table) const {
  if (!has(table)) throw InputError("'" + path_ + "' has no table " + table);
  const Id dataset = H5Dopen2(file_.get(), table.c_str(), H5P_DEFAULT);
  if (dataset < 0) cannot_read(path_, "table " + table + " is damaged");
  return {dataset, H5Dclose};
}

std::int64_t Reader::rows(const std::string& table) const {
  return guarded([&] { return count_rows(open(table).get()); });
}

Rows Reader::read(const std::string& table, std::int64_t first, std::int64_t count) const {
  return guarded([&] {
    const Handle dataset = open(table);
    TableSchema schema = schema_of(Handle(H5Dget_type(dataset.get()), H5Tclose).get(), table);
    const Handle type = row_type(schema, true);
    std::vector<std::byte> bytes = read_rows(dataset.get(), type.get(), first, count);
    return Rows(path_, std::move(schema), std::move(bytes));
  });
}

Reader::Texts Reader::texts(const std::string& table) const {
  return guarded([&] {
    const Handle dataset = open(table);
    const TableSchema schema = schema_of(Handle(H5Dget_type(dataset.get()), H5Tclose).get(), table);
    const std::size_t count = schema.columns.size();
    Texts texts{text_of(dataset.get(), "description"), texts_of(dataset.get(), "column_units", count),
                texts_of(dataset.get(), "column_descriptions", count)};
    if (texts.units.size() != count || texts.descriptions.size() != count)
      throw Failure("table " + table + " does not say what its columns are");
    return texts;
  });
}

Reader::Text Reader::text(const std::string& path) const {
  return guarded([&] {
    const Handle dataset = open(path);
    const Handle type(H5Dget_type(dataset.get()), H5Tclose);
    if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) > 0 || count_rows(dataset.get()) != 1)
      throw Failure(path + " is not a text");
    const std::vector<std::byte> bytes = read_rows(dataset.get(), type.get(), 0, 1);
    const char* begin = reinterpret_cast<const char*>(bytes.data());
    return Text{{begin, strnlen(begin, bytes.size())}, text_of(dataset.get(), "description")};
  });
}

Reader::Matrix Reader::matrix(const std::string& path) const {
  return guarded([&] {
    const Handle dataset = open(path);
    Matrix matrix = read_matrix(dataset.get());
    matrix.description = text_of(dataset.get(), "description");
    return matrix;
  });
}

std::vector<std::string> Reader::members(const std::string& group) const {
  return guarded([&] {
    if (!has(group)) return std::vector<std::string>{};
    Names found;
    const Handle opened(H5Gopen2(file_.get(), group.c_str(), H5P_DEFAULT), H5Gclose);
    checked(H5Literate(opened.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, keep_name, &found));
    std::vector<std::string> names = std::move(found).checked();
    for (std::string& name : names) name.erase(0, 1);  // the slash in front
    return names;
  });
}

std::string Reader::attribute(const char* name) const {
  return guarded([&] { return checked(H5Aexists(file_.get(), name)) > 0 ? text_of(file_.get(), name) : ""; });
}

FileKind kind_of(const std::string& path) {
  const QuietErrors quiet;
  try {
    const Handle file = open_file(path);
    const std::string format = checked(H5Aexists(file.get(), "format")) > 0 ? text_of(file.get(), "format") : "";
    for (const FileKind kind : {FileKind::points, FileKind::history, FileKind::policy})
      if (format == expected_of(kind).format) return kind;
  } catch (const std::runtime_error&) {  // a Failure or an Error
  }
  return FileKind::run;
}

}  // namespace tessera::results::h5
