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

/// Calls visit(key, position) for each key of the outermost object, or of the one that it has under `within`.
template <class Visit>
void for_each_key(const std::string& text, const std::string& within, const Visit& visit) {
  int depth = 0, line = 1;
  std::size_t line_start = 0;
  std::string outer;
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
    const std::string key = is_key && depth <= 2 ? text.substr(i + 1, close - i - 1) : "";
    if (depth == 1 && is_key) outer = key;
    if (is_key && (within.empty() ? depth == 1 : depth == 2 && outer == within))
      visit(key, KeyPosition{line, static_cast<int>(i - line_start + 1)});
    i = close;
  }
}

/// "[json.exception.parse_error.101] parse error at line 3, column 1: syntax error while ..." from "syntax error" on.
std::string reason_of(const std::string& parse_error) {
  const std::string marker = ": ";
  const auto start = parse_error.find(marker);
  return start == std::string::npos ? parse_error : parse_error.substr(start + marker.size());
}

/// Follows the parser, which throws nothing then, and keeps what it objects to.
class Judge : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Judge(const std::string& text) : text_(text) {}
  [[nodiscard]] const std::optional<JsonProblem>& problem() const { return problem_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(std::int64_t) override { return true; }
  bool number_unsigned(std::uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(nlohmann::json::binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(std::string&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t bytes, const std::string& token, const nlohmann::detail::exception& error) override {
    problem_ = problem_of_parser(text_, bytes, token, error);
    return false;
  }

 private:
  const std::string& text_;
  std::optional<JsonProblem> problem_;
};

}  // namespace

KeyPosition position_of(const std::string& text, std::size_t byte) {
  const std::size_t end = std::min(byte, text.size());
  const auto stop = text.begin() + static_cast<std::ptrdiff_t>(end);
  const auto line = 1 + std::count(text.begin(), stop, '\n');
  const std::size_t newline = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t start = newline == std::string::npos ? 0 : newline + 1;
  return {static_cast<int>(line), static_cast<int>(end - start + 1)};
}

std::map<std::string, KeyPosition> key_positions(const std::string& text, const std::string& within) {
  std::map<std::string, KeyPosition> positions;
  for_each_key(text, within, [&](const std::string& key, const KeyPosition& at) { positions.try_emplace(key, at); });
  return positions;
}

std::map<std::string, KeyPosition> repeated_keys(const std::string& text, const std::string& within) {
  std::set<std::string> seen;
  std::map<std::string, KeyPosition> repeated;
  for_each_key(text, within, [&](const std::string& key, const KeyPosition& at) {
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

JsonProblem problem_of_parser(const std::string& text, std::size_t bytes, const std::string& token,
                              const nlohmann::detail::exception& error) {
  constexpr int number_overflow = 406;
  if (error.id == number_overflow)
    return {position_of(text, bytes - std::min(bytes, token.size())),
            "invalid JSON: the number " + token + " is too large, allowed: at most 1.79e308"};
  return {position_of(text, bytes == 0 ? 0 : bytes - 1), "invalid JSON: " + reason_of(error.what())};
}

std::string without_infinities(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') i = end_of_string(text, i);
    for (const std::string_view word : {"-Infinity", "Infinity"})
      if (i < text.size() && text.compare(i, word.size(), word) == 0)
        text.replace(i, word.size(), "null" + std::string(word.size() - 4, ' '));
  }
  return text;
}

std::optional<JsonProblem> problem_of_json(const std::string& text, int most_levels) {
  if (const auto deep = too_deep(text, most_levels)) {
    const std::string levels = std::to_string(most_levels);
    return JsonProblem{*deep,
                       "more than " + levels + " levels of objects and arrays within each other, allowed: " + levels};
  }
  Judge judge(text);
  static_cast<void>(nlohmann::json::sax_parse(text, &judge));
  return judge.problem();
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
