// Jobs as other tools describe them, written as experiments (docs/from-other-tools.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/experiment/experiment.hpp"

namespace tessera::experiment {

/// What is asked beside what the files say.
struct ImportRequest {
  std::vector<std::string> files;    ///< of one job; a folder stands for the files in it that a format reads
  std::string format;                ///< one of import_formats(); empty: the one that recognises the files
  std::string machine, recipe;       ///< empty: what the files hint at; a machine that they do not is an error
  std::int64_t nodes = 0;            ///< of the machine; 0: as many as the files say
  std::vector<std::string> without;  ///< names in the files that change the computation and are left out all the same
  std::vector<Setting> variables;    ///< of a shell script, which sees no others from outside
  std::vector<Setting> settings;     ///< keys of the experiment, over what follows from the files
  std::string output;  ///< the file that the text is for, whose folder its paths are relative to; empty: none
  std::vector<std::filesystem::path> folders;  ///< input_folders()
};

/// The text of an experiment: what the files say, with their own names as comments, and what of them it does not say.
/// Problems go to `diagnostics`, each at its place in the files, and the text is of no use then: what changes the
/// computation and cannot be said (unless it is one of `without`), what is needed and not there. Names that no table
/// knows warn, and so does what an experiment is refused for in the end. IoError when a file cannot be read.
[[nodiscard]] std::string import_experiment(const ImportRequest& request, config::Diagnostics& diagnostics);

/// The formats that can be read: Choice::family is "import format".
[[nodiscard]] std::vector<Choice> import_formats();

}  // namespace tessera::experiment
