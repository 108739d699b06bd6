// The words of a shell script as they stand there, quotes and variables included.
#pragma once

#include <string>
#include <vector>

#include "tessera/base/config.hpp"

namespace tessera::experiment::importing {

struct RawWord {
  std::string text;
  bool is_operator = false;  ///< "\n", ";", "&&", "||", "|", "&", "(", ")"; ";;" too
  config::Location where;
};

/// Comments, redirections and here-documents are left out; "#SBATCH" lines become "#SBATCH" and their words. What
/// nothing closes is an error, and there are no words then.
[[nodiscard]] std::vector<RawWord> shell_words(const std::string& text, const std::string& file,
                                               config::Diagnostics& diagnostics);

}  // namespace tessera::experiment::importing
