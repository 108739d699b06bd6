#include "shell.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "shell_expand.hpp"

namespace tessera::experiment::importing {
namespace {

/// "NAME=", "NAME+=" at the beginning of a word: the length of the name; 0 where it is no assignment.
std::size_t assigned_name(const std::string& word) {
  std::size_t end = 0;
  while (end < word.size() && (std::isalnum(static_cast<unsigned char>(word[end])) != 0 || word[end] == '_')) ++end;
  const bool is_name = end > 0 && std::isdigit(static_cast<unsigned char>(word[0])) == 0;
  return is_name && (word.compare(end, 1, "=") == 0 || word.compare(end, 2, "+=") == 0) ? end : 0;
}

class Reader {
 public:
  Reader(std::vector<RawWord> words, const std::map<std::string, std::string>& variables,
         config::Diagnostics& diagnostics)
      : words_(std::move(words)), diagnostics_(diagnostics) {
    for (const auto& [name, value] : variables) {
      variables_.set(name, {{value, {"--var " + name, 0, 0}}});
      given_.push_back(name);
    }
  }

  ShellScript read() {
    while (at_ < words_.size()) statement();
    return std::move(script_);
  }

 private:
  /// An `if` that is being read.
  struct Branch {
    bool outer = true;  ///< whether what stands around it runs
    bool taken = false, runs = false;
  };

  [[nodiscard]] bool runs() const { return branches_.empty() || branches_.back().runs; }
  [[nodiscard]] const RawWord& word() const { return words_[at_]; }
  [[nodiscard]] bool is_end() const {
    return at_ >= words_.size() || (word().is_operator && word().text != "(" && word().text != ")");
  }

  void statement() {
    if (word().is_operator) return static_cast<void>(++at_);
    const std::string first = word().text;
    if (first == "if" || first == "elif") return condition(first == "if");
    if (first == "else" || first == "fi") return end_branch(first == "fi");
    if (first == "then" || first == "do" || first == "{" || first == "}") return static_cast<void>(++at_);
    if (first == "for" || first == "while" || first == "until" || first == "case") return skip_block(first);
    simple();
  }

  void condition(bool opens) {
    if (opens) branches_.push_back({runs(), false, false});
    ++at_;
    std::vector<RawWord> words;
    for (; at_ < words_.size() && words_[at_].text != "then"; ++at_) words.push_back(words_[at_]);
    if (branches_.empty()) return;
    Branch& branch = branches_.back();
    branch.runs = branch.outer && !branch.taken && holds(words);
    branch.taken = branch.taken || branch.runs;
  }

  void end_branch(bool closes) {
    ++at_;
    if (branches_.empty()) return;
    if (closes) return branches_.pop_back();
    Branch& branch = branches_.back();
    branch.runs = branch.outer && !branch.taken;
    branch.taken = true;
  }

  /// `[ a == b ] && [ -n c ]`, from left to right; what is not understood does not hold.
  bool holds(const std::vector<RawWord>& words) {
    bool result = true, joins_and = true, negated = false;
    for (std::size_t i = 0; i < words.size();) {
      std::vector<RawWord> test;
      for (; i < words.size() && !words[i].is_operator; ++i) {
        const std::string& text = words[i].text;
        if (text == "!")
          negated = true;
        else if (text != "[" && text != "[[" && text != "]" && text != "]]" && text != "test")
          test.push_back(words[i]);
      }
      if (!test.empty()) {
        const bool one = compares(test) != negated;
        result = joins_and ? result && one : result || one;
        negated = false;
      }
      if (i < words.size()) joins_and = words[i].text == "||" ? false : words[i].text == "&&" ? true : joins_and;
      ++i;
    }
    return result;
  }

  bool compares(const std::vector<RawWord>& test) {
    const auto value = [&](std::size_t i) { return without_marks(variables_.expand_whole(test[i]).text); };
    if (test.size() == 2 && test[0].text == "-n") return !value(1).empty();
    if (test.size() == 2 && test[0].text == "-z") return value(1).empty();
    if (test.size() == 3) {
      const std::string& op = test[1].text;
      const bool same = value(0) == value(2);
      if (op == "==" || op == "=" || op == "-eq") return same;
      if (op == "!=" || op == "-ne") return !same;
      const double left = std::strtod(value(0).c_str(), nullptr), right = std::strtod(value(2).c_str(), nullptr);
      if (op == "-gt") return left > right;
      if (op == "-ge") return left >= right;
      if (op == "-lt") return left < right;
      if (op == "-le") return left <= right;
    }
    if (test.size() == 1) return !value(0).empty() && value(0) != "false";
    const bool asks_for_file = test.size() == 2 && test[0].text.starts_with('-');
    if (!asks_for_file && runs())
      diagnostics_.warn(test[0].where, "a condition that is not understood, taken not to hold");
    return false;
  }

  void skip_block(const std::string& opening) {
    if (runs()) diagnostics_.warn(word().where, fmt::format("\"{}\": what it does is left out", opening));
    int depth = 0;
    for (; at_ < words_.size(); ++at_) {
      const bool begins =
          at_ == 0 || words_[at_ - 1].is_operator || words_[at_ - 1].text == "do" || words_[at_ - 1].text == "then";
      const std::string& text = word().text;
      if (word().is_operator || !begins) continue;
      if (text == "for" || text == "while" || text == "until" || text == "case") ++depth;
      if ((text == "done" || text == "esac") && --depth == 0) return static_cast<void>(++at_);
    }
  }

  void simple() {
    if (word().text == "#SBATCH") {
      ++at_;
      ShellCommand directive = rest();
      return script_.directives.push_back(std::move(directive));
    }
    bool exports = false;
    constexpr std::array prefixes{"export", "local", "declare", "readonly", "typeset"};
    if (std::ranges::find(prefixes, word().text) != prefixes.end()) {
      exports = word().text == "export";
      ++at_;
    }
    bool assigns = false;
    while (!is_end() && assigned_name(word().text) > 0) assigns = assign(exports) || assigns;
    if (is_end()) return;
    ShellCommand command = rest();
    if (runs() && !command.empty() && !exports) script_.commands.push_back(std::move(command));
  }

  /// Words up to the end of the command.
  ShellCommand rest() {
    ShellCommand command;
    for (; !is_end(); ++at_) {
      if (word().is_operator) continue;
      for (ShellWord& one : variables_.expand(word())) command.push_back(std::move(one));
    }
    return command;
  }

  bool assign(bool exports) {
    const RawWord raw = word();
    const std::size_t length = assigned_name(raw.text);
    const std::string name = raw.text.substr(0, length);
    const bool appends = raw.text[length] == '+';
    const std::string value = raw.text.substr(length + (appends ? 2 : 1));
    ++at_;
    const bool is_list = value.empty() && at_ < words_.size() && word().is_operator && word().text == "(";
    std::vector<ShellWord> values;
    if (is_list)
      values = list();
    else
      values = {variables_.expand_whole({value, false, raw.where})};
    if (!runs() || std::ranges::find(given_, name) != given_.end()) return true;
    if (exports) script_.exported.push_back(as_words(values));
    if (!appends)
      variables_.set(name, values);
    else if (is_list)
      variables_.append(name, values);
    else
      variables_.append_text(name, values.front());
    return true;
  }

  std::vector<ShellWord> list() {
    std::vector<ShellWord> values;
    for (++at_; at_ < words_.size() && !(word().is_operator && word().text == ")"); ++at_) {
      if (word().is_operator) continue;  // ends of lines
      for (ShellWord& one : variables_.expand(word())) values.push_back(std::move(one));
    }
    if (at_ < words_.size()) ++at_;
    return values;
  }

  static ShellCommand as_words(const std::vector<ShellWord>& values) {
    ShellCommand words;
    for (const ShellWord& value : values) {
      std::string text;
      for (const char c : value.text + " ") {
        if (std::isspace(static_cast<unsigned char>(c)) == 0)
          text += c;
        else if (!text.empty())
          words.push_back({std::exchange(text, {}), value.where});
      }
    }
    return words;
  }

  std::vector<RawWord> words_;
  config::Diagnostics& diagnostics_;
  ShellVariables variables_;
  std::vector<std::string> given_;  ///< from the command line: the script does not change them
  std::size_t at_ = 0;
  std::vector<Branch> branches_;
  ShellScript script_;
};

}  // namespace

ShellScript read_shell(const std::string& text, const std::string& file,
                       const std::map<std::string, std::string>& variables, config::Diagnostics& diagnostics) {
  return Reader(shell_words(text, file, diagnostics), variables, diagnostics).read();
}

}  // namespace tessera::experiment::importing
