// Chakra execution traces, byte by byte as schema/protobuf/et_def.proto of mlcommons/chakra has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test::chakra {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>((value & 0x7FU) | 0x80U);
  return bytes + static_cast<char>(value);
}
inline std::string number(unsigned field, std::uint64_t value) { return varint(field << 3U) + varint(value); }
inline std::string bytes(unsigned field, const std::string& content) {
  return varint(field << 3U | 2U) + varint(content.size()) + content;
}
/// A message behind its length.
inline std::string message(const std::string& content) { return varint(content.size()) + content; }

inline std::string attribute(const std::string& name, std::uint64_t value, unsigned field = 9) {  // int64_val
  return bytes(10, bytes(1, name) + number(field, value));
}
inline std::string text_attribute(const std::string& name, const std::string& value) {
  return bytes(10, bytes(1, name) + bytes(29, value));
}

enum Type : unsigned { metadata = 1, load = 2, compute = 4, send = 5, receive = 6, collective = 7 };

inline std::string node(std::uint64_t id, const std::string& name, Type type,
                        const std::vector<std::uint64_t>& after = {}, const std::string& rest = {}) {
  std::string content = number(1, id) + bytes(2, name) + number(3, type);
  for (const std::uint64_t other : after) content += number(5, other);  // data_deps, not packed
  return message(content + rest);
}
inline std::string trace(const std::string& nodes) { return message(bytes(1, "0.0.4")) + nodes; }

}  // namespace tessera::test::chakra
