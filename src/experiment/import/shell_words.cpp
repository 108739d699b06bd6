#include "shell_words.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace tessera::experiment::importing {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_word(char c) { return is_blank(c) || std::string_view("\n;&|()<>").find(c) != std::string_view::npos; }

class Lexer {
 public:
  Lexer(const std::string& text, std::string file, config::Diagnostics& diagnostics)
      : text_(text), file_(std::move(file)), diagnostics_(diagnostics) {}

  std::vector<RawWord> words() {
    while (at_ < text_.size() && !failed_) step();
    put("\n", true);
    return failed_ ? std::vector<RawWord>{} : std::move(words_);
  }

 private:
  [[nodiscard]] config::Location here() const { return {file_, line_, static_cast<int>(at_ - line_start_) + 1}; }
  [[nodiscard]] bool has(std::string_view what) const { return text_.compare(at_, what.size(), what) == 0; }
  void put(std::string text, bool is_operator) { words_.push_back({std::move(text), is_operator, here()}); }

  /// One character on, counting lines.
  void advance() {
    if (text_[at_++] != '\n') return;
    ++line_;
    line_start_ = at_;
  }

  void step() {
    const char c = text_[at_];
    if (is_blank(c)) return advance();
    if (has("\\\n")) return advance(), advance();
    if (has("\\\r\n")) return advance(), advance(), advance();
    if (c == '#') return comment();
    if (c == '<' || c == '>') return redirection();
    if (c == '\n') {
      put("\n", true);
      advance();
      return here_documents();
    }
    for (const std::string_view two : {"&&", "||", ";;"}) {
      if (!has(two)) continue;
      put(std::string(two), true);
      advance();
      return advance();
    }
    if (std::string_view(";&|()").find(c) != std::string_view::npos) {
      put(std::string(1, c), true);
      return advance();
    }
    word();
  }

  void comment() {
    const bool is_directive = has("#SBATCH");
    if (is_directive) {
      put("#SBATCH", false);
      for (int i = 0; i < 7; ++i) advance();
      return;
    }
    while (at_ < text_.size() && text_[at_] != '\n') advance();
  }

  /// `>> log 2>&1`: the operator, and the word behind it; of `<< END` the lines up to END are skipped as well.
  void redirection() {
    if (has("<<") && !has("<<<")) {
      at_ += 2;
      while (at_ < text_.size() && (is_blank(text_[at_]) || text_[at_] == '-')) ++at_;
      std::string end;
      for (; at_ < text_.size() && !ends_word(text_[at_]); ++at_)
        if (text_[at_] != '\'' && text_[at_] != '"') end += text_[at_];
      return ends_.push_back(end);
    }
    const bool is_beside = at_ > 0 && (text_[at_ - 1] == '1' || text_[at_ - 1] == '2');  // 2>
    if (is_beside && !words_.empty() && words_.back().text.size() == 1) words_.pop_back();
    while (at_ < text_.size() && std::string_view("<>&|").find(text_[at_]) != std::string_view::npos) ++at_;
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    const std::size_t before = words_.size();
    if (at_ < text_.size() && !ends_word(text_[at_])) word();
    if (words_.size() > before) words_.pop_back();
  }

  void here_documents() {
    for (const std::string& end : ends_) {
      while (at_ < text_.size()) {
        const std::size_t stop = std::min(text_.find('\n', at_), text_.size());
        const std::string line = text_.substr(at_, stop - at_);
        while (at_ < text_.size() && at_ <= stop) advance();
        if (line.substr(std::min(line.find_first_not_of('\t'), line.size())) == end) break;
      }
    }
    ends_.clear();
  }

  void word() {
    const config::Location begin = here();
    std::string text;
    while (at_ < text_.size() && !ends_word(text_[at_]) && !failed_) {
      if (has("\\\n")) {
        advance();
        advance();
      } else if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        take(text);
        take(text);
      } else if (text_[at_] == '\'') {
        quoted(text, '\'');
      } else if (text_[at_] == '"' || text_[at_] == '`') {
        quoted(text, text_[at_]);
      } else if (has("$(") || has("${")) {
        bracketed(text);
      } else {
        take(text);
      }
    }
    words_.push_back({std::move(text), false, begin});
  }

  void take(std::string& text) {
    text += text_[at_];
    advance();
  }

  void quoted(std::string& text, char quote) {
    const config::Location begin = here();
    take(text);
    while (at_ < text_.size() && text_[at_] != quote) {
      if (quote != '\'' && text_[at_] == '\\' && at_ + 1 < text_.size())
        take(text);
      else if (quote == '"' && (has("$(") || has("${"))) {
        bracketed(text);
        continue;
      }
      take(text);
    }
    if (at_ >= text_.size()) return fail(begin, "a quote that nothing closes");
    take(text);
  }

  /// "$( ... )", "${ ... }", with others inside.
  void bracketed(std::string& text) {
    const config::Location begin = here();
    take(text);
    const char open = text_[at_], close = open == '(' ? ')' : '}';
    int depth = 0;
    while (at_ < text_.size() && !failed_) {
      const char c = text_[at_];
      if (c == '"' || (c == '\'' && open == '(')) {
        quoted(text, c);
        continue;
      }
      depth += c == open ? 1 : c == close ? -1 : 0;
      take(text);
      if (depth == 0) return;
    }
    fail(begin, "a bracket that nothing closes");
  }

  void fail(const config::Location& where, const char* what) {
    if (!failed_) diagnostics_.error(where, what);
    failed_ = true;
    at_ = text_.size();
  }

  const std::string& text_;
  std::string file_;
  config::Diagnostics& diagnostics_;
  std::size_t at_ = 0, line_start_ = 0;
  int line_ = 1;
  bool failed_ = false;
  std::vector<RawWord> words_;
  std::vector<std::string> ends_;  ///< of here-documents that begin in this line
};

}  // namespace

std::vector<RawWord> shell_words(const std::string& text, const std::string& file, config::Diagnostics& diagnostics) {
  return Lexer(text, file, diagnostics).words();
}

}  // namespace tessera::experiment::importing
