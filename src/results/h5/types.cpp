#include "types.hpp"

#include <hdf5.h>

namespace tessera::results::h5 {
namespace {

Id number_type(ColumnType type, bool in_memory) {
  switch (type) {
    case ColumnType::int32:
      return in_memory ? H5T_NATIVE_INT32 : H5T_STD_I32LE;
    case ColumnType::float64:
      return in_memory ? H5T_NATIVE_DOUBLE : H5T_IEEE_F64LE;
    default:
      return in_memory ? H5T_NATIVE_INT64 : H5T_STD_I64LE;
  }
}

Handle text_type(std::size_t width, H5T_str_t padding) {
  Handle type(H5Tcopy(H5T_C_S1), H5Tclose);
  checked(H5Tset_size(type.get(), width));
  checked(H5Tset_strpad(type.get(), padding));
  checked(H5Tset_cset(type.get(), H5T_CSET_UTF8));
  return type;
}

}  // namespace

Handle fixed_text(std::size_t width) { return text_type(width, H5T_STR_NULLPAD); }

Handle variable_text() { return text_type(H5T_VARIABLE, H5T_STR_NULLTERM); }

Handle row_type(const TableSchema& schema, bool in_memory) {
  Handle row(H5Tcreate(H5T_COMPOUND, schema.row_bytes), H5Tclose);
  for (const Column& column : schema.columns) {
    if (column.type == ColumnType::text) {
      checked(H5Tinsert(row.get(), column.name.c_str(), column.offset, fixed_text(column.width).get()));
    } else {
      checked(H5Tinsert(row.get(), column.name.c_str(), column.offset, number_type(column.type, in_memory)));
    }
  }
  return row;
}

Handle access_without_locks() {
  Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
#if H5_VERSION_GE(1, 10, 7) && !(H5_VERS_MINOR == 12 && H5_VERS_RELEASE < 1)
  checked(H5Pset_file_locking(access.get(), false, true));
#endif
  return access;
}

}  // namespace tessera::results::h5
