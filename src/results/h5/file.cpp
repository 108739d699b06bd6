#include "file.hpp"

#include <hdf5.h>

#include "types.hpp"

namespace tessera::results::h5 {
namespace {

/// Space at once, into which ranks write rows without HDF5; no fill values, which would be written twice.
Handle dataset_creation() {
  Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  checked(H5Pset_obj_track_times(creation.get(), false));
  checked(H5Pset_layout(creation.get(), H5D_CONTIGUOUS));
  checked(H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY));
  checked(H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER));
  return creation;
}

Handle simple_space(std::int64_t count) {
  const auto extent = static_cast<hsize_t>(count);
  return {H5Screate_simple(1, &extent, nullptr), H5Sclose};
}

void write_attribute(Id object, const std::string& name, Id type, Id space, const void* value) {
  const Handle attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose);
  checked(H5Awrite(attribute.get(), type, value));
}

void write_text(Id object, const std::string& name, const std::string& value) {
  const char* text = value.c_str();
  write_attribute(object, name, variable_text().get(), Handle(H5Screate(H5S_SCALAR), H5Sclose).get(), &text);
}

void write_texts(Id object, const std::string& name, const std::vector<const char*>& values) {
  write_attribute(object, name, variable_text().get(), simple_space(static_cast<std::int64_t>(values.size())).get(),
                  values.data());
}

/// Makes the attribute, or changes its value.
void write_number(Id object, const std::string& name, Id in_file, Id in_memory, const void* value) {
  const bool exists = checked(H5Aexists(object, name.c_str())) > 0;
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(exists ? H5Aopen(object, name.c_str(), H5P_DEFAULT)
                                : H5Acreate2(object, name.c_str(), in_file, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  checked(H5Awrite(attribute.get(), in_memory, value));
}

void describe_columns(Id dataset, const TableSchema& schema) {
  std::string units;
  std::vector<const char*> column_units, descriptions;
  for (const Column& column : schema.columns) {
    units += (units.empty() ? "" : ", ") + column.name + ": " + column.unit;
    column_units.push_back(column.unit.c_str());
    descriptions.push_back(column.description.c_str());
  }
  write_text(dataset, "description", schema.description);
  write_text(dataset, "units", units);
  write_texts(dataset, "column_units", column_units);
  write_texts(dataset, "column_descriptions", descriptions);
}

/// A group of many members keeps their names in a heap that has no checksum, and HDF5 1.10 crashes where it is damaged;
/// up to this many they stand in the group's header, which has one.
void keep_links_checked(Id creation) {
  constexpr unsigned most_in_header = 4096;
  checked(H5Pset_link_phase_change(creation, most_in_header, most_in_header - 1));
}

}  // namespace

File File::create(Image& image) {
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  place_in(access.get(), image);
  checked(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V18));
  const Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  checked(H5Pset_obj_track_times(creation.get(), false));
  keep_links_checked(creation.get());
  return File({H5Fcreate("image", H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose});
}

void File::flush() { checked(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL)); }

void File::group(const std::string& path, const std::string& description) {
  const Handle creation(H5Pcreate(H5P_GROUP_CREATE), H5Pclose);
  checked(H5Pset_obj_track_times(creation.get(), false));
  keep_links_checked(creation.get());
  const Handle group(H5Gcreate2(file_.get(), path.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Gclose);
  write_text(group.get(), "description", description);
}

void File::table(const TableSchema& schema, std::int64_t rows) {
  const Handle type = row_type(schema, false);
  const Handle space = simple_space(rows);
  const Handle creation = dataset_creation();
  const Handle dataset(
      H5Dcreate2(file_.get(), schema.path.c_str(), type.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
      H5Dclose);
  describe_columns(dataset.get(), schema);
}

void File::text(const std::string& path, const std::string& value, const std::string& description) {
  const Handle type = fixed_text(value.size());
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle creation = dataset_creation();
  const Handle dataset(
      H5Dcreate2(file_.get(), path.c_str(), type.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
      H5Dclose);
  checked(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, value.data()));
  write_text(dataset.get(), "description", description);
  write_text(dataset.get(), "units", "text");
}

void File::matrix(const std::string& path, const std::vector<float>& values, std::uint64_t rows, std::uint64_t columns,
                  const std::string& description) {
  const hsize_t extents[] = {rows, columns};
  const Handle space(H5Screate_simple(2, extents, nullptr), H5Sclose);
  const Handle creation = dataset_creation();
  const Handle dataset(
      H5Dcreate2(file_.get(), path.c_str(), H5T_IEEE_F32LE, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
      H5Dclose);
  checked(H5Dwrite(dataset.get(), H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
  write_text(dataset.get(), "description", description);
  write_text(dataset.get(), "units", "1");
}

void File::attribute(const std::string& object, const std::string& name, const std::string& value) {
  const Handle target(H5Oopen(file_.get(), object.c_str(), H5P_DEFAULT), H5Oclose);
  write_text(target.get(), name, value);
}

void File::attribute(const std::string& object, const std::string& name, std::int64_t value) {
  const Handle target(H5Oopen(file_.get(), object.c_str(), H5P_DEFAULT), H5Oclose);
  write_number(target.get(), name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

void File::attribute(const std::string& object, const std::string& name, const std::vector<std::int64_t>& values,
                     std::size_t columns) {
  const Handle target(H5Oopen(file_.get(), object.c_str(), H5P_DEFAULT), H5Oclose);
  const hsize_t extents[] = {values.size() / columns, columns};
  const Handle space(H5Screate_simple(2, extents, nullptr), H5Sclose);
  const Handle attribute(H5Acreate2(target.get(), name.c_str(), H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  checked(H5Awrite(attribute.get(), H5T_NATIVE_INT64, values.data()));
}

void File::checksum(const std::string& dataset, std::uint32_t crc32) {
  const Handle target(H5Dopen2(file_.get(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
  write_number(target.get(), checksum_attribute, H5T_STD_U32LE, H5T_NATIVE_UINT32, &crc32);
}

void File::write(const TableSchema& schema, const std::vector<std::byte>& rows) {
  const Handle dataset(H5Dopen2(file_.get(), schema.path.c_str(), H5P_DEFAULT), H5Dclose);
  // Packed rows lie in memory as they lie in the file.
  checked(H5Dwrite(dataset.get(), row_type(schema, true).get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()));
}

std::int64_t File::offset(const std::string& table) const {
  const Handle dataset(H5Dopen2(file_.get(), table.c_str(), H5P_DEFAULT), H5Dclose);
  const haddr_t offset = H5Dget_offset(dataset.get());
  if (offset == HADDR_UNDEF) throw Failure("HDF5 has given " + table + " no room");
  return static_cast<std::int64_t>(offset);
}

}  // namespace tessera::results::h5
