#include "file.hpp"

#include <hdf5.h>

#include "types.hpp"

namespace tessera::results::h5 {
namespace {

/// Space at once, so that ranks which open the file later only fill it in; no fill values, which would be written
/// twice.
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

/// More pieces than this are selected row by row: joining pieces to a region costs the square of their number.
constexpr std::size_t most_joined_runs = 512;

void select_points(Id space, const std::vector<Run>& runs, std::size_t rows) {
  std::vector<hsize_t> points;
  points.reserve(rows);
  for (const Run& run : runs) {
    for (std::int64_t i = 0; i < run.count; ++i) points.push_back(static_cast<hsize_t>(run.position + i));
  }
  checked(H5Sselect_elements(space, H5S_SELECT_SET, points.size(), points.data()));
}

void select_runs(Id space, const std::vector<Run>& runs, std::size_t rows) {
  if (runs.empty()) {
    checked(H5Sselect_none(space));
    return;
  }
  if (runs.size() > most_joined_runs) {
    select_points(space, runs, rows);
    return;
  }
  H5S_seloper_t how = H5S_SELECT_SET;
  for (const Run& run : runs) {
    const auto start = static_cast<hsize_t>(run.position);
    const auto count = static_cast<hsize_t>(run.count);
    checked(H5Sselect_hyperslab(space, how, &start, nullptr, &count, nullptr));
    how = H5S_SELECT_OR;
  }
}

}  // namespace

File File::create(const std::string& path) {
  return File({H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_without_locks().get()), H5Fclose});
}

File File::open(const std::string& path) {
  return File({H5Fopen(path.c_str(), H5F_ACC_RDWR, access_without_locks().get()), H5Fclose});
}

void File::group(const std::string& path, const std::string& description) {
  const Handle group(H5Gcreate2(file_.get(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose);
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
  const Handle type = fixed_text(value.empty() ? 1 : value.size());
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle creation = dataset_creation();
  const Handle dataset(
      H5Dcreate2(file_.get(), path.c_str(), type.get(), space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT),
      H5Dclose);
  // An empty text is one byte of padding, which c_str() has.
  checked(H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, value.c_str()));
  write_text(dataset.get(), "description", description);
  write_text(dataset.get(), "units", "text");
}

void File::attribute(const std::string& object, const std::string& name, const std::string& value) {
  const Handle target(H5Oopen(file_.get(), object.c_str(), H5P_DEFAULT), H5Oclose);
  write_text(target.get(), name, value);
}

void File::attribute(const std::string& object, const std::string& name, std::int64_t value) {
  const Handle target(H5Oopen(file_.get(), object.c_str(), H5P_DEFAULT), H5Oclose);
  const Handle space(H5Screate(H5S_SCALAR), H5Sclose);
  const Handle attribute(H5Acreate2(target.get(), name.c_str(), H5T_STD_I64LE, space.get(), H5P_DEFAULT, H5P_DEFAULT),
                         H5Aclose);
  checked(H5Awrite(attribute.get(), H5T_NATIVE_INT64, &value));
}

void File::write(const TableSchema& schema, const std::vector<Run>& runs, const std::vector<std::byte>& rows,
                 Id transfer) {
  const Handle dataset(H5Dopen2(file_.get(), schema.path.c_str(), H5P_DEFAULT), H5Dclose);
  const std::size_t count = rows.size() / schema.row_bytes;
  const Handle in_file(H5Dget_space(dataset.get()), H5Sclose);
  select_runs(in_file.get(), runs, count);
  const Handle in_memory = simple_space(static_cast<std::int64_t>(count));
  if (count == 0) checked(H5Sselect_none(in_memory.get()));
  const Handle type = row_type(schema, true);
  checked(H5Dwrite(dataset.get(), type.get(), in_memory.get(), in_file.get(), transfer == 0 ? H5P_DEFAULT : transfer,
                   rows.data()));
}

}  // namespace tessera::results::h5
