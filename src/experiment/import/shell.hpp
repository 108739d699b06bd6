// What a shell script says without being run: its commands with variables put in. Nothing is executed, no file is
// read, and no variable comes from outside but those that are given.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/config.hpp"

namespace tessera::experiment::importing {

struct ShellWord {
  std::string text;  ///< with a mark where a variable without a value stands: without_marks(), unset_in()
  config::Location where;
};
using ShellCommand = std::vector<ShellWord>;

struct ShellScript {
  std::vector<ShellCommand> commands;    ///< in order; assignments are none
  std::vector<ShellCommand> exported;    ///< values of variables that are exported, as words
  std::vector<ShellCommand> directives;  ///< words of #SBATCH lines
};

/// The text without marks.
[[nodiscard]] std::string without_marks(std::string_view text);
/// The first variable in it that has no value; empty where all have.
[[nodiscard]] std::string unset_in(std::string_view text);

/// Variables, arrays, defaults, arithmetic, quotes, and `if` by what its conditions compare; what loops, functions and
/// substituted commands would do is left out with a warning. A quote or a bracket that nothing closes is an error.
[[nodiscard]] ShellScript read_shell(const std::string& text, const std::string& file,
                                     const std::map<std::string, std::string>& variables,
                                     config::Diagnostics& diagnostics);

}  // namespace tessera::experiment::importing
