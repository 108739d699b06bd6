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
/// The places of keys and values in the order of the text, which the parser follows.
class JsonPlaces {
 public:
  explicit JsonPlaces(const std::string& text);
  /// Of the next key or value, whichever comes first; of the end, behind the last.
  KeyPosition next();

 private:
  void advance(std::size_t to);

  const std::string& text_;
  std::size_t at_ = 0, line_start_ = 0;
  int line_ = 1;
};
/// What the parser objects to, without how it calls that: "[json.exception.parse_error.101] parse error at line 3,
/// column 1: syntax error while ..." from "syntax error" on.
[[nodiscard]] std::string reason_of(const std::string& parse_error);
/// Where objects and arrays are first within each other more often than `most_levels`.
[[nodiscard]] std::optional<KeyPosition> too_deep(const std::string& text, int most_levels);

}  // namespace tessera::workload
