// The checksum of a JSON object on a line of its own: the last of its keys, "crc32", over all that stands before it.
#pragma once

#include <string>
#include <string_view>

namespace tessera::results {

enum class LineState {
  whole,             ///< it agrees with its checksum
  without_checksum,  ///< as earlier versions of Tessera wrote it
  damaged
};

/// The object with the key "crc32" behind its others, of which there is at least one: the CRC-32, in eight hexadecimal
/// digits, of the text up to the comma in front of that key.
[[nodiscard]] std::string with_checksum(std::string object);

/// Of a line without its end.
[[nodiscard]] LineState state_of_line(std::string_view line);

}  // namespace tessera::results
