#include "toml_levels.hpp"

#include <algorithm>
#include <vector>

namespace tessera::config {
namespace {

bool is_bare(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/// Index behind the text in quotes that begins at `open`.
std::size_t end_of_quotes(const std::string& text, std::size_t open) {
  const char quote = text[open];
  const std::string three(3, quote);
  const bool many_lines = text.compare(open, 3, three) == 0;
  for (std::size_t i = open + (many_lines ? 3 : 1); i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (many_lines && text.compare(i, 3, three) == 0) {
      return i + 3;
    } else if (!many_lines && (text[i] == quote || text[i] == '\n')) {
      return i + 1;
    }
  }
  return text.size();
}

Location location(const std::string& text, std::size_t at, const std::string& file) {
  const auto stop = text.begin() + static_cast<std::ptrdiff_t>(at);
  const auto line = std::count(text.begin(), stop, '\n');
  const auto start = text.rfind('\n', at == 0 ? 0 : at - 1);
  const auto first = text.begin() + static_cast<std::ptrdiff_t>(line == 0 ? 0 : start + 1);
  const auto column = std::count_if(first, stop, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  return {file, static_cast<int>(line) + 1, static_cast<int>(column) + 1};
}

/// Counts, inside of all open brackets, the levels that lead to the current value.
class Levels {
 public:
  [[nodiscard]] bool too_many() const { return sum_ > most_levels + 1; }
  /// A part of a key, or an element of a list.
  void part(bool behind_a_dot) { become(behind_a_dot ? parts_.back() + 1 : 1); }
  void open(char bracket) {
    parts_.push_back(bracket == '[' ? 1 : 0);
    sum_ += parts_.back();
  }
  void close() {
    sum_ -= parts_.back();
    parts_.pop_back();
    if (parts_.empty()) parts_.push_back(0);
  }
  void next_element() { become(std::min(parts_.back(), 1)); }

 private:
  void become(int parts) {
    sum_ += parts - parts_.back();
    parts_.back() = parts;
  }

  std::vector<int> parts_{0};
  int sum_ = 0;
};

}  // namespace

std::optional<Location> too_deep(const std::string& text, const std::string& file) {
  Levels levels;
  bool behind_a_dot = false;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t begin = i;
    const char c = text[i++];
    if (c == ' ' || c == '\t') continue;
    if (c == '"' || c == '\'' || is_bare(c)) {
      if (is_bare(c)) {
        while (i < text.size() && is_bare(text[i])) ++i;
      } else {
        i = end_of_quotes(text, begin);
      }
      levels.part(behind_a_dot);
    }
    if (c == '#') i = std::min(text.find('\n', begin), text.size());
    if (c == '[' || c == '{') levels.open(c);
    if (c == ']' || c == '}') levels.close();
    if (c == ',') levels.next_element();
    behind_a_dot = c == '.';
    if (levels.too_many()) return location(text, begin, file);
  }
  return std::nullopt;
}

std::string too_deep_message() {
  return "more than " + std::to_string(most_levels) +
         " levels of tables and lists within each other, allowed: " + std::to_string(most_levels);
}

}  // namespace tessera::config
