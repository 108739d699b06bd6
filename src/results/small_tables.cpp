#include "small_tables.hpp"

namespace tessera::results {

void add_text(h5::File& file, const std::string& path, const std::string& value, const std::string& description) {
  const std::string stored = value.empty() ? std::string(1, '\0') : value;
  file.text(path, stored, description);
  file.checksum(path, crc32_of(reinterpret_cast<const std::byte*>(stored.data()), stored.size()));
}

}  // namespace tessera::results
