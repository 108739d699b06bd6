#include "yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace tessera::experiment::importing {
namespace {

struct YamlLine {
  int number = 0, indent = 0;
  std::string text;  ///< without indentation, comment and blanks at the end
};

/// Where a comment begins: a '#' behind a blank, outside quotes.
std::size_t comment_at(std::string_view text) {
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool opens = i == 0 || std::string_view(" \t[{,:").find(text[i - 1]) != std::string_view::npos;
    if (quote != '\0')
      quote = text[i] == quote ? '\0' : quote;
    else if ((text[i] == '"' || text[i] == '\'') && opens)
      quote = text[i];
    else if (text[i] == '#' && (i == 0 || text[i - 1] == ' ' || text[i - 1] == '\t'))
      return i;
  }
  return text.size();
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

class YamlReader {
 public:
  YamlReader(const std::string& text, std::string file, config::Diagnostics& diagnostics)
      : file_(std::move(file)), diagnostics_(diagnostics) {
    int number = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view line(text.data() + at, end - at);
      ++number;
      at = end + 1;
      const std::string_view kept = trim(line.substr(0, comment_at(line)));
      if (kept.empty() || kept == "---" || kept.starts_with("%YAML")) continue;
      const auto indent = static_cast<int>(std::min(line.find_first_not_of(' '), line.size()));
      lines_.push_back({number, indent, std::string(kept)});
    }
  }

  std::shared_ptr<config::Table> read() {
    if (lines_.empty() || lines_[0].text[0] == '-') fail(where(0), "expected a mapping, such as \"model:\"");
    auto table = failed_ ? nullptr : mapping(lines_[0].indent, 0);
    if (!failed_ && at_ < lines_.size()) fail(where(at_), "indented less than what it belongs to");
    return failed_ ? nullptr : table;
  }

 private:
  [[nodiscard]] config::Location where(std::size_t line, std::size_t offset = 0) const {
    if (line >= lines_.size()) return {file_, 1, 1};
    return {file_, lines_[line].number, lines_[line].indent + static_cast<int>(offset) + 1};
  }
  void fail(const config::Location& at, const std::string& what) {
    if (!failed_) diagnostics_.error(at, "YAML: " + what);
    failed_ = true;
  }

  /// The place of the ':' behind a key; npos where the line is none.
  static std::size_t colon(std::string_view text) {
    char quote = '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (quote != '\0')
        quote = text[i] == quote ? '\0' : quote;
      else if (i == 0 && (text[i] == '"' || text[i] == '\''))
        quote = text[i];
      else if (text[i] == ':' && (i + 1 == text.size() || text[i + 1] == ' '))
        return i;
    }
    return std::string_view::npos;
  }

  static std::string unquoted(std::string_view text) {
    if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front())
      return std::string(text.substr(1, text.size() - 2));
    return std::string(text);
  }

  std::shared_ptr<config::Table> mapping(int indent, int depth) {
    auto table = std::make_shared<config::Table>(where(at_));
    if (depth > config::most_levels) fail(where(at_), "more than 256 levels");
    while (!failed_ && at_ < lines_.size() && lines_[at_].indent == indent && !is_item(lines_[at_].text)) {
      const std::string text = lines_[at_].text;
      const std::size_t end = colon(text);
      if (end == std::string_view::npos) {
        fail(where(at_), fmt::format("expected \"key: value\", found \"{}\"", text));
        break;
      }
      const config::Location key_at = where(at_);
      const std::string key = unquoted(trim(std::string_view(text).substr(0, end)));
      if (key.empty() || key[0] == '&' || key[0] == '*' || key[0] == '?' || key == "<<")
        fail(key_at, fmt::format("\"{}\" is no key that is read here", key));
      value(*table, key, key_at, text, end, depth);
    }
    if (!failed_ && at_ < lines_.size() && lines_[at_].indent > indent)
      fail(where(at_), "indented more than its neighbours");
    return table;
  }

  static bool is_item(std::string_view text) { return text == "-" || text.starts_with("- "); }

  void value(config::Table& table, const std::string& key, const config::Location& key_at, const std::string& text,
             std::size_t end, int depth) {
    const std::string_view rest = trim(std::string_view(text).substr(end + 1));
    const int indent = lines_[at_].indent;
    const config::Location at = where(at_, static_cast<std::size_t>(rest.data() - text.data()));
    if (table.find(key) != nullptr)
      diagnostics_.warn(key_at, fmt::format("\"{}\" is there twice, the last one counts as it does in PyYAML", key));
    ++at_;
    if (rest.empty()) {
      if (at_ >= lines_.size() || lines_[at_].indent < indent) return;  // null
      if (is_item(lines_[at_].text)) return table.set(key, {list(lines_[at_].indent, depth + 1), key_at, key_at});
      if (lines_[at_].indent == indent) return;
      return table.set(key, {mapping(lines_[at_].indent, depth + 1), key_at, key_at});
    }
    if (rest[0] == '|' || rest[0] == '>') return table.set(key, {block(indent), at, key_at});
    std::string whole(rest);
    join_flow(whole);
    if (auto content = scalar_or_flow(whole, at, depth)) table.set(key, {std::move(*content), at, key_at});
  }

  /// A value in brackets may go on over several lines.
  void join_flow(std::string& text) {
    if (text[0] != '[' && text[0] != '{') return;
    const auto open = [&] {
      return std::ranges::count_if(text, [](char c) { return c == '[' || c == '{'; }) -
             std::ranges::count_if(text, [](char c) { return c == ']' || c == '}'; });
    };
    while (open() > 0 && at_ < lines_.size()) text += " " + lines_[at_++].text;
  }

  std::string block(int indent) {
    std::string text;
    for (; at_ < lines_.size() && lines_[at_].indent > indent; ++at_)
      text += (text.empty() ? "" : "\n") + lines_[at_].text;
    return text;
  }

  config::Array list(int indent, int depth) {
    config::Array items;
    if (depth > config::most_levels) fail(where(at_), "more than 256 levels");
    while (!failed_ && at_ < lines_.size() && lines_[at_].indent == indent && is_item(lines_[at_].text)) {
      YamlLine& line = lines_[at_];
      const std::string_view rest = trim(std::string_view(line.text).substr(1));
      const auto offset = static_cast<int>(rest.empty() ? 1 : rest.data() - line.text.data());
      const config::Location at = where(at_, static_cast<std::size_t>(offset));
      if (rest.empty()) {
        ++at_;
        if (at_ < lines_.size() && lines_[at_].indent > indent)
          items.push_back({mapping(lines_[at_].indent, depth + 1), at});
      } else if (rest[0] != '[' && rest[0] != '{' && rest[0] != '"' && colon(rest) != std::string_view::npos) {
        line = {line.number, indent + offset, std::string(rest)};  // a mapping whose first key stands behind the dash
        items.push_back({mapping(line.indent, depth + 1), at});
      } else {
        std::string whole(rest);
        ++at_;
        join_flow(whole);
        if (auto content = scalar_or_flow(whole, at, depth)) items.push_back({std::move(*content), at});
      }
    }
    return items;
  }

  std::optional<config::Value::Content> scalar_or_flow(std::string_view text, const config::Location& at, int depth) {
    if (text[0] == '[' || text[0] == '{') return flow(text, at, depth + 1);
    if (text[0] == '&' || text[0] == '*' || text[0] == '!') {
      fail(at, fmt::format("\"{}\": anchors and tags are not read here", text));
      return std::nullopt;
    }
    return scalar(text);
  }

  /// Nothing for null.
  static std::optional<config::Value::Content> scalar(std::string_view text) {
    if (text[0] == '"' || text[0] == '\'') return unquoted(text);
    if (text == "null" || text == "Null" || text == "NULL" || text == "~") return std::nullopt;
    if (text == "true" || text == "True" || text == "TRUE") return true;
    if (text == "false" || text == "False" || text == "FALSE") return false;
    std::int64_t whole = 0;
    const char* end = text.data() + text.size();
    if (const auto [parsed, problem] = std::from_chars(text.data(), end, whole);
        problem == std::errc{} && parsed == end)
      return whole;
    double number = 0;
    if (const auto [parsed, problem] = std::from_chars(text.data(), end, number);
        problem == std::errc{} && parsed == end)
      return number;
    return std::string(text);
  }

  /// "[a, b]", "{a: 1}": parts at the outermost commas.
  std::optional<config::Value::Content> flow(std::string_view text, const config::Location& at, int depth) {
    const char close = text[0] == '[' ? ']' : '}';
    if (text.back() != close || depth > config::most_levels) {
      fail(at, "a bracket that nothing closes");
      return std::nullopt;
    }
    config::Array items;
    auto table = std::make_shared<config::Table>(at);
    for (std::string_view part : parts_of_flow(text.substr(1, text.size() - 2))) {
      part = trim(part);
      if (part.empty()) continue;
      if (close == ']') {
        if (auto content = scalar_or_flow(part, at, depth)) items.push_back({std::move(*content), at});
        continue;
      }
      const std::size_t end = colon(part);
      const std::string_view inside = end == std::string_view::npos ? "" : trim(part.substr(end + 1));
      if (inside.empty()) continue;
      if (auto content = scalar_or_flow(inside, at, depth))
        table->set(unquoted(trim(part.substr(0, end))), {std::move(*content), at});
    }
    if (close == ']') return items;
    return table;
  }

  static std::vector<std::string_view> parts_of_flow(std::string_view text) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0;
    int open = 0;
    char quote = '\0';
    for (std::size_t i = 0; i < text.size(); ++i) {
      const char c = text[i];
      if (quote != '\0')
        quote = c == quote ? '\0' : quote;
      else if (c == '"' || c == '\'')
        quote = c;
      else if (c == '[' || c == '{')
        ++open;
      else if (c == ']' || c == '}')
        --open;
      else if (c == ',' && open == 0) {
        parts.push_back(text.substr(begin, i - begin));
        begin = i + 1;
      }
    }
    parts.push_back(text.substr(begin));
    return parts;
  }

  std::string file_;
  config::Diagnostics& diagnostics_;
  std::vector<YamlLine> lines_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

std::shared_ptr<config::Table> parse_yaml(const std::string& text, const std::string& file,
                                          config::Diagnostics& diagnostics) {
  return YamlReader(text, file, diagnostics).read();
}

}  // namespace tessera::experiment::importing
