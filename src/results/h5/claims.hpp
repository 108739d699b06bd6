// What a dataset claims to hold, compared with what the file can hold.
#pragma once

#include <cstdint>

#include "handle.hpp"

namespace tessera::results::h5 {

/// Elements of a dataset: rows of a table, the bytes of a text as one, all numbers of a matrix. Failure where the file
/// has not what they take: a damaged number of rows must become neither an attempt to take that much memory nor hours
/// of reading fill values. Tessera's own tables lie in the file as they are; h5repack also leaves chunks, compressed or
/// not, of which all have to be there.
[[nodiscard]] std::int64_t count_elements(Id dataset);

}  // namespace tessera::results::h5
