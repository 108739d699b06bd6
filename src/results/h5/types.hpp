// HDF5 datatypes of columns and rows.
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

}  // namespace tessera::results::h5
