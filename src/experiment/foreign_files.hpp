// Files of other tools where Tessera reads its own: called by their names, in the place of an error of syntax.
#pragma once

#include <string>
#include <string_view>

#include "tessera/base/config.hpp"

namespace tessera::experiment {

/// "a Calculon system", "a YAML file"; empty where it is not known, or may well be TOML.
[[nodiscard]] std::string kind_of_foreign_file(std::string_view text, std::string_view file);

/// Whether the text is known to be something else than the TOML (of a model: the TOML or JSON) that is expected, which
/// is reported then. `expected`: "an experiment", "a machine".
[[nodiscard]] bool refuse_foreign_file(const std::string& text, const std::string& file, std::string_view expected,
                                       config::Diagnostics& diagnostics);

/// Whether a name ends as files of other tools do, so that it is a path.
[[nodiscard]] bool has_foreign_extension(std::string_view name);

}  // namespace tessera::experiment
