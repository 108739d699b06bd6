#include "tessera/base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "tessera/base/utf8.hpp"

namespace tessera {
namespace {

constexpr std::size_t kept_in_front = longest_line * 3 / 5;
constexpr std::size_t kept_behind = longest_line / 4;

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Bytes of the character at the front of `text`, and which it is; 0 bytes where none is well-formed (RFC 3629).
std::size_t take_character(std::string_view text, std::uint32_t& character) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) {
    character = first;
    return 1;
  }
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  character = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!continues(text[i])) return 0;
    character = character << 6 | (static_cast<unsigned char>(text[i]) & 0x3FU);
  }
  const bool overlong = (length == 3 && character < 0x800) || (length == 4 && character < 0x10000);
  const bool surrogate = character >= 0xD800 && character <= 0xDFFF;
  return overlong || surrogate || character > 0x10FFFF ? 0 : length;
}

/// C0, DEL, C1, and what ends a line or turns the direction of writing in Unicode.
bool is_control(std::uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x200E && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    std::uint32_t character = 0;
    const std::size_t length = take_character(text, character);
    if (length == 0) {
      result += fmt::format("\\x{:02X}", static_cast<unsigned char>(text.front()));
    } else if (character == '\n') {
      result += "\\n";
    } else if (character == '\t') {
      result += "\\t";
    } else if (is_control(character)) {
      result += fmt::format("\\u{:04X}", character);
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return result;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    std::uint32_t character = 0;
    const std::size_t length = take_character(text, character);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string one_line(std::string_view text) {
  std::string line = escaped(text);
  if (line.size() <= longest_line) return line;
  std::size_t front = kept_in_front, back = line.size() - kept_behind;
  while (continues(line[front])) --front;
  while (continues(line[back])) ++back;
  return fmt::format("{} ... ({} characters left out) ... {}", std::string_view(line).substr(0, front), back - front,
                     std::string_view(line).substr(back));
}

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (begin > 0) result += '\n';
    result += one_line(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return result;
}

}  // namespace tessera
