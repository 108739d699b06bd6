#include "json_keys.hpp"

#include <algorithm>

namespace tessera::workload {
namespace {

/// Index of the quote that ends the string which starts at `open`.
std::size_t end_of_string(const std::string& text, std::size_t open) {
  std::size_t i = open + 1;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return std::min(i, text.size());
}

}  // namespace

KeyPosition position_of(const std::string& text, std::size_t byte) {
  const std::size_t end = std::min(byte, text.size());
  const auto stop = text.begin() + static_cast<std::ptrdiff_t>(end);
  const auto line = 1 + std::count(text.begin(), stop, '\n');
  const std::size_t newline = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t start = newline == std::string::npos ? 0 : newline + 1;
  return {static_cast<int>(line), static_cast<int>(end - start + 1)};
}

std::map<std::string, KeyPosition> key_positions(const std::string& text) {
  std::map<std::string, KeyPosition> positions;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') continue;
    const std::size_t close = end_of_string(text, i);
    const std::size_t next = text.find_first_not_of(" \t\r\n", close + 1);
    const bool is_key = next != std::string::npos && text[next] == ':';
    if (depth == 1 && is_key) positions.emplace(text.substr(i + 1, close - i - 1), position_of(text, i));
    i = close;
  }
  return positions;
}

}  // namespace tessera::workload
