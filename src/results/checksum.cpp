#include "checksum.hpp"

#include <zlib.h>

namespace tessera::results {

std::uint32_t crc32_of(const std::byte* bytes, std::size_t count) {
  RunningCrc32 crc;
  crc.add(bytes, count);
  return crc.value();
}

std::uint32_t crc32_part(const std::byte* bytes, std::size_t count, std::int64_t behind) {
  // zlib joins the checksums of a head and a tail: that of the head, moved over the tail's length, exclusive or that of
  // the tail. With 0 for the tail only the move is left.
  return static_cast<std::uint32_t>(crc32_combine(crc32_of(bytes, count), 0, static_cast<z_off_t>(behind)));
}

void RunningCrc32::add(const std::byte* bytes, std::size_t count) {
  // For no bytes zlib wants no null pointer, which it takes for "the initial value".
  if (count > 0) value_ = static_cast<std::uint32_t>(crc32_z(value_, reinterpret_cast<const Bytef*>(bytes), count));
}

}  // namespace tessera::results
