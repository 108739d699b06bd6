// Where the keys of a JSON object stand in its text; the parser does not tell.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace tessera::workload {

struct KeyPosition {
  int line = 1;
  int column = 1;
};

/// Line and column of a byte of the text, from 1; a byte behind the end counts as the end.
[[nodiscard]] KeyPosition position_of(const std::string& text, std::size_t byte);
/// The keys of the outermost object of valid JSON text.
[[nodiscard]] std::map<std::string, KeyPosition> key_positions(const std::string& text);
/// Those of them that it has more than once, with the place of the last: the parser takes one of them without a word.
[[nodiscard]] std::map<std::string, KeyPosition> repeated_keys(const std::string& text);
/// Where objects and arrays are first within each other more often than `most_levels`.
[[nodiscard]] std::optional<KeyPosition> too_deep(const std::string& text, int most_levels);

}  // namespace tessera::workload
