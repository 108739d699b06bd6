// Tables of one or few rows, and texts: rank 0 has all of them, and makes them with their checksums.
#pragma once

#include <string>
#include <vector>

#include "checksum.hpp"
#include "h5/file.hpp"
#include "table.hpp"

namespace tessera::results {

template <class Row>
void add_small_table(h5::File& file, const Table<Row>& table, const std::vector<Row>& rows) {
  file.table(table.schema(), static_cast<std::int64_t>(rows.size()));
  std::vector<std::byte> packed(rows.size() * table.schema().row_bytes);
  for (std::size_t i = 0; i < rows.size(); ++i) table.pack(rows[i], packed.data() + i * table.schema().row_bytes);
  if (!rows.empty()) file.write(table.schema(), packed);
  file.checksum(table.schema().path, crc32_of(packed.data(), packed.size()));
}

/// An empty text is stored as one zero byte: there is no type of none.
void add_text(h5::File& file, const std::string& path, const std::string& value, const std::string& description);

}  // namespace tessera::results
