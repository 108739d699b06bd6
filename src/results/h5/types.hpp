// HDF5 datatypes of columns and rows, and how files are opened.
#pragma once

#include <cstddef>

#include "../table.hpp"
#include "handle.hpp"

namespace tessera::results::h5 {

/// Fixed-length, null-padded UTF-8.
[[nodiscard]] Handle fixed_text(std::size_t width);
/// The string type of attributes, which h5py gives as str.
[[nodiscard]] Handle variable_text();
/// The compound type of packed rows as they lie in memory, or in the file (little-endian whatever the machine).
[[nodiscard]] Handle row_type(const TableSchema& schema, bool in_memory);
/// Opens without file locks: nobody else knows the temporary file, finished files never change, and some parallel file
/// systems have no locks at all.
[[nodiscard]] Handle access_without_locks();

}  // namespace tessera::results::h5
