// HDF5 datatypes of columns and rows, and how files are opened.
#pragma once

#include <cstddef>

#include "../table.hpp"
#include "handle.hpp"

namespace tessera::results::h5 {

/// CRC-32 of a dataset's bytes as they are stored: an unsigned 32-bit attribute.
inline constexpr const char* checksum_attribute = "crc32";
/// Of /provenance: offset in the file, bytes and CRC-32 of each block that holds texts of attributes. They hold for a
/// file of the length that Tessera gave it, file_bytes: h5repack copies attributes, but puts blocks elsewhere.
inline constexpr const char* text_blocks_attribute = "text_blocks";
inline constexpr const char* file_bytes_attribute = "file_bytes";

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
