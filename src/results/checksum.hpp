// CRC-32 as zlib and everybody else computes it, also of a table whose rows are spread over ranks.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::results {

[[nodiscard]] std::uint32_t crc32_of(const std::byte* bytes, std::size_t count);

/// What these bytes contribute to the CRC-32 of a whole in which `behind` bytes follow them. The CRC-32 of the whole is
/// the exclusive or of its parts' contributions, in whatever order and on whatever rank they are computed.
[[nodiscard]] std::uint32_t crc32_part(const std::byte* bytes, std::size_t count, std::int64_t behind);

/// The CRC-32 of bytes that are met in their order.
class RunningCrc32 {
 public:
  void add(const std::byte* bytes, std::size_t count);
  [[nodiscard]] std::uint32_t value() const { return value_; }

 private:
  std::uint32_t value_ = 0;
};

}  // namespace tessera::results
