#include "shell_expand.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace tessera::experiment::importing {
namespace {

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string name_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_name_character(text[end])) ++end;
  return std::string(text.substr(at, end - at));
}

/// "$(( ... ))": whole numbers, names, brackets, + - * / %. Nothing where it is something else.
class Arithmetic {
 public:
  explicit Arithmetic(std::string_view text) : text_(text) {}

  std::optional<std::int64_t> value() {
    const auto result = sum();
    skip();
    return at_ == text_.size() ? result : std::nullopt;
  }

 private:
  using Number = std::optional<std::int64_t>;
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  char next() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  static Number combine(char op, Number a, Number b) {
    std::int64_t result = 0;
    if (!a || !b || ((op == '/' || op == '%') && (*b == 0 || *b == -1))) return std::nullopt;
    if (op == '/') return *a / *b;
    if (op == '%') return *a % *b;
    const bool overflows = op == '*'   ? __builtin_mul_overflow(*a, *b, &result)
                           : op == '+' ? __builtin_add_overflow(*a, *b, &result)
                                       : __builtin_sub_overflow(*a, *b, &result);
    return overflows ? Number() : Number(result);
  }
  Number sum() {
    Number left = product();
    while (next() == '+' || next() == '-') {
      const char op = text_[at_++];
      left = combine(op, left, product());
    }
    return left;
  }
  Number product() {
    Number left = operand();
    while (next() == '*' || next() == '/' || next() == '%') {
      const char op = text_[at_++];
      left = combine(op, left, operand());
    }
    return left;
  }
  Number operand() {
    if (next() == '(' && depth_ < 64) {
      ++at_;
      ++depth_;
      const Number inner = sum();
      if (next() != ')') return std::nullopt;
      ++at_;
      --depth_;
      return inner;
    }
    const std::string digits = name_at(text_, at_);
    at_ += digits.size();
    const bool is_number = !digits.empty() && digits.size() < 18 &&
                           std::ranges::all_of(digits, [](unsigned char c) { return std::isdigit(c) != 0; });
    return is_number ? Number(std::stoll(digits)) : Number();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

constexpr int most_nested = 32;

/// On both sides of the name of a variable without a value. No script has this character.
constexpr char mark = '\x1a';

}  // namespace

/// Goes through one word and collects the words that it stands for.
class Expander {
 public:
  Expander(const ShellVariables& variables, const RawWord& word, bool splits, int depth = 0)
      : variables_(variables), word_(word), splits_(splits), depth_(depth) {}

  std::vector<ShellWord> words() {
    expand(word_.text, false);
    finish();
    return std::move(words_);
  }

 private:
  void expand(std::string_view text, bool quoted) {
    for (std::size_t at = 0; at < text.size();) {
      const char c = text[at];
      if (c == '\'' && !quoted) {
        const std::size_t end = std::min(text.find('\'', at + 1), text.size());
        add(text.substr(at + 1, end - at - 1));
        at = end + 1;
      } else if (c == '"' && !quoted) {
        const std::size_t end = end_of_quote(text, at);
        begun_ = true;
        expand(text.substr(at + 1, end - at - 1), true);
        at = end + 1;
      } else if (c == '\\' && at + 1 < text.size()) {
        add(text.substr(at + 1, 1));
        at += 2;
      } else if (c == '`') {
        at = std::min(text.find('`', at + 1), text.size()) + 1;
        substituted("a command");
      } else if (c == '$' && at + 1 < text.size()) {
        at = variable(text, at + 1, quoted);
      } else {
        add(text.substr(at++, 1));
      }
    }
  }

  static std::size_t end_of_quote(std::string_view text, std::size_t at) {
    for (++at; at < text.size() && text[at] != '"'; ++at)
      if (text[at] == '\\')
        ++at;
      else if (text[at] == '$' && at + 1 < text.size() && (text[at + 1] == '{' || text[at + 1] == '('))
        at = end_of_bracket(text, at + 1);
    return std::min(at, text.size());
  }
  /// Of the bracket at `at` the place of the one that closes it.
  static std::size_t end_of_bracket(std::string_view text, std::size_t at) {
    const char open = text[at], close = open == '(' ? ')' : '}';
    int depth = 0;
    for (; at < text.size(); ++at) {
      depth += text[at] == open ? 1 : text[at] == close ? -1 : 0;
      if (depth == 0) return at;
    }
    return text.size() - 1;
  }

  /// Behind a '$'; returns the place behind what it takes.
  std::size_t variable(std::string_view text, std::size_t at, bool quoted) {
    if (text.substr(at).starts_with("((")) {
      const std::size_t end = end_of_bracket(text, at);
      arithmetic(text.substr(at + 2, end - at - 3));
      return end + 1;
    }
    if (text[at] == '(') {
      substituted("a command");
      return end_of_bracket(text, at) + 1;
    }
    if (text[at] == '{') {
      const std::size_t end = end_of_bracket(text, at);
      braced(text.substr(at + 1, end - at - 1), quoted);
      return end + 1;
    }
    const bool is_digit = std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    const std::string name = is_digit ? std::string(1, text[at]) : name_at(text, at);
    if (name.empty()) {  // $@, $#, $?
      unset(std::string(text.substr(at, 1)));
      return at + 1;
    }
    put(name, false, quoted);
    return at + name.size();
  }

  void braced(std::string_view inside, bool quoted) {
    const std::string name = name_at(inside, 0);
    std::string_view rest = inside.substr(name.size());
    const bool is_list = rest.starts_with("[@]") || rest.starts_with("[*]");
    if (is_list) rest.remove_prefix(3);
    const bool is_known = variables_.has(name) && !is_empty(name);
    if (rest.empty() || is_known) return put(name, is_list, quoted);
    const std::size_t behind = rest.find_first_not_of(":-=");
    if (rest[0] != ':' && rest[0] != '-' && rest[0] != '=') return unset(name);
    if (behind == std::string_view::npos) return;  // ${name:-}
    expand(rest.substr(behind), quoted);
  }

  [[nodiscard]] bool is_empty(const std::string& name) const {
    const auto& values = variables_.values_.at(name);
    return values.empty() || (values.size() == 1 && without_marks(values[0].text).empty());
  }

  void put(const std::string& name, bool is_list, bool quoted) {
    const auto found = variables_.values_.find(name);
    if (found == variables_.values_.end()) return unset(name);
    const std::size_t count = is_list ? found->second.size() : std::min<std::size_t>(1, found->second.size());
    for (std::size_t i = 0; i < count; ++i) {
      const ShellWord& value = found->second[i];
      if (i > 0) finish();
      if (is_list && (!begun_ || text_.empty())) where_ = value.where;
      if (quoted || !splits_)
        add(value.text), begun_ = true;
      else
        add_split(value.text);
    }
  }

  void add_split(std::string_view text) {
    for (const char c : text) {
      if (std::isspace(static_cast<unsigned char>(c)) != 0)
        finish();
      else
        add(std::string_view(&c, 1));
    }
  }

  void arithmetic(std::string_view text) {
    // Names may stand with or without '$'.
    std::string spelt;
    for (std::size_t at = 0; at < text.size();) {
      const std::string name = name_at(text, at);
      const bool is_name = !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
      if (is_name && (at == 0 || (text[at - 1] != '$' && text[at - 1] != '{')))
        spelt += "$" + name;
      else if (name.empty())
        spelt += text[at];
      else
        spelt += name;
      at += std::max<std::size_t>(1, name.size());
    }
    if (depth_ > most_nested) return substituted("arithmetic");
    const ShellWord inner = Expander(variables_, {spelt, false, word_.where}, false, depth_ + 1).one();
    const std::string unknown = unset_in(inner.text);
    const auto value = unknown.empty() ? Arithmetic(inner.text).value() : std::nullopt;
    if (value) return add(std::to_string(*value));
    unset(unknown.empty() ? std::string(text) : unknown);
  }

  ShellWord one() {
    expand(word_.text, false);
    return {text_, where_.value_or(word_.where)};
  }
  friend class ShellVariables;

  void substituted(const char* what) { unset(std::string("(") + what + ")"); }
  void unset(const std::string& name) { add(mark + name + mark); }
  void add(std::string_view text) {
    text_ += text;
    begun_ = true;
  }
  void finish() {
    if (begun_) words_.push_back({text_, where_.value_or(word_.where)});
    text_.clear();
    where_.reset();
    begun_ = false;
  }

  const ShellVariables& variables_;
  const RawWord& word_;
  bool splits_;
  int depth_;
  std::string text_;
  std::optional<config::Location> where_;
  bool begun_ = false;
  std::vector<ShellWord> words_;
};

std::string without_marks(std::string_view text) {
  std::string result;
  bool inside = false;
  for (const char c : text) {
    if (c == mark)
      inside = !inside;
    else if (!inside)
      result += c;
  }
  return result;
}

std::string unset_in(std::string_view text) {
  const std::size_t begin = text.find(mark);
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin + 1, text.find(mark, begin + 1) - begin - 1));
}

void ShellVariables::append(const std::string& name, const std::vector<ShellWord>& values) {
  auto& known = values_[name];
  known.insert(known.end(), values.begin(), values.end());
}

void ShellVariables::append_text(const std::string& name, const ShellWord& value) {
  auto& known = values_[name];
  if (known.empty()) known.emplace_back(ShellWord{"", value.where});
  known.front().text += value.text;
}

std::vector<ShellWord> ShellVariables::expand(const RawWord& word) const { return Expander(*this, word, true).words(); }

ShellWord ShellVariables::expand_whole(const RawWord& word) const { return Expander(*this, word, false).one(); }

}  // namespace tessera::experiment::importing
