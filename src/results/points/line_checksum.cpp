#include "line_checksum.hpp"

#include <fmt/format.h>

#include "../checksum.hpp"

namespace tessera::results {
namespace {

constexpr std::string_view checksum_key = "\"crc32\"";

/// What stands behind `text` in a whole line.
std::string tail_of(std::string_view text) {
  const auto crc = crc32_of(reinterpret_cast<const std::byte*>(text.data()), text.size());
  return fmt::format(",{}:\"{:08x}\"}}", checksum_key, crc);
}

}  // namespace

std::string with_checksum(std::string object) {
  object.pop_back();
  return object + tail_of(object);
}

LineState state_of_line(std::string_view line) {
  static const std::size_t tail_size = tail_of({}).size();
  if (line.find(checksum_key) == std::string_view::npos) return LineState::without_checksum;
  if (line.size() < tail_size) return LineState::damaged;
  const std::string_view text = line.substr(0, line.size() - tail_size);
  return line.substr(text.size()) == tail_of(text) ? LineState::whole : LineState::damaged;
}

}  // namespace tessera::results
