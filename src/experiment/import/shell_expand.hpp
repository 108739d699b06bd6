// Variables of a shell script, and words with their values put in.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shell.hpp"
#include "shell_words.hpp"

namespace tessera::experiment::importing {

class ShellVariables {
 public:
  void set(const std::string& name, std::vector<ShellWord> values) { values_[name] = std::move(values); }
  void append(const std::string& name, const std::vector<ShellWord>& values);
  /// Of a text: behind the last value, without a blank.
  void append_text(const std::string& name, const ShellWord& value);
  [[nodiscard]] bool has(const std::string& name) const { return values_.contains(name); }

  /// The words that a word stands for: values that stand outside quotes are split at blanks.
  [[nodiscard]] std::vector<ShellWord> expand(const RawWord& word) const;
  /// The same as one word: of assignments.
  [[nodiscard]] ShellWord expand_whole(const RawWord& word) const;

 private:
  friend class Expander;
  std::map<std::string, std::vector<ShellWord>> values_;
};

}  // namespace tessera::experiment::importing
