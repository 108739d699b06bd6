#include "json_keys.hpp"

#include <algorithm>
#include <set>

namespace tessera::workload {
namespace {

/// Index of the quote that ends the string which starts at `open`.
std::size_t end_of_string(const std::string& text, std::size_t open) {
  std::size_t i = open + 1;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return std::min(i, text.size());
}

/// Calls visit(key, position) for each key of the outermost object.
template <class Visit>
void for_each_key(const std::string& text, const Visit& visit) {
  int depth = 0, line = 1;
  std::size_t line_start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
      line_start = i + 1;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c != '"') continue;
    const std::size_t close = end_of_string(text, i);
    const std::size_t next = text.find_first_not_of(" \t\r\n", close + 1);
    const bool is_key = next != std::string::npos && text[next] == ':';
    if (depth == 1 && is_key)
      visit(text.substr(i + 1, close - i - 1), KeyPosition{line, static_cast<int>(i - line_start + 1)});
    i = close;
  }
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
  for_each_key(text, [&](const std::string& key, const KeyPosition& at) { positions.try_emplace(key, at); });
  return positions;
}

std::map<std::string, KeyPosition> repeated_keys(const std::string& text) {
  std::set<std::string> seen;
  std::map<std::string, KeyPosition> repeated;
  for_each_key(text, [&](const std::string& key, const KeyPosition& at) {
    if (!seen.insert(key).second) repeated[key] = at;
  });
  return repeated;
}

JsonPlaces::JsonPlaces(const std::string& text) : text_(text) {
  if (text.starts_with("\xEF\xBB\xBF")) at_ = line_start_ = 3;  // a byte order mark
}

void JsonPlaces::advance(std::size_t to) {
  for (to = std::min(to, text_.size()); at_ < to; ++at_) {
    if (text_[at_] != '\n') continue;
    ++line_;
    line_start_ = at_ + 1;
  }
}

KeyPosition JsonPlaces::next() {
  advance(text_.find_first_not_of(" \t\r\n,:]}", at_));
  const KeyPosition found{line_, static_cast<int>(at_ - line_start_ + 1)};
  if (at_ >= text_.size()) return found;
  const char first = text_[at_];
  if (first == '"') {
    advance(end_of_string(text_, at_) + 1);
  } else if (first == '{' || first == '[') {
    advance(at_ + 1);
  } else {
    advance(text_.find_first_of(" \t\r\n,:]}", at_));
  }
  return found;
}

std::string reason_of(const std::string& parse_error) {
  const std::string marker = ": ";
  const auto start = parse_error.find(marker);
  return start == std::string::npos ? parse_error : parse_error.substr(start + marker.size());
}

std::optional<KeyPosition> too_deep(const std::string& text, int most_levels) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') i = end_of_string(text, i);
    if (c == '}' || c == ']') --depth;
    if ((c == '{' || c == '[') && ++depth > most_levels) return position_of(text, i);
  }
  return std::nullopt;
}

}  // namespace tessera::workload
