// How deep a TOML text nests, seen before it is parsed: the parser walks over its tree by recursion.
#pragma once

#include <optional>
#include <string>

#include "tessera/base/config.hpp"

namespace tessera::config {

/// Where the text has a dotted key, or lists and inline tables within each other, of more than most_levels levels;
/// nothing where it has none. Of a text that is not TOML any answer is right.
[[nodiscard]] std::optional<Location> too_deep(const std::string& text, const std::string& file);

/// The message for both that and a tree that is too deep by its sections and keys together.
[[nodiscard]] std::string too_deep_message();

}  // namespace tessera::config
