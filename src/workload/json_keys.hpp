// Where the keys of a JSON object stand in its text; the parser does not tell.
#pragma once

#include <cstddef>
#include <map>
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

}  // namespace tessera::workload
