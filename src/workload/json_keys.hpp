// Where the keys of a JSON object stand in its text; the parser does not tell.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace tessera::workload {

struct KeyPosition {
  int line = 1;
  int column = 1;
};

/// Line and column of a byte of the text, from 1; a byte behind the end counts as the end.
[[nodiscard]] KeyPosition position_of(const std::string& text, std::size_t byte);
/// The keys of the outermost object of valid JSON text, or of the object that it has under a key, `within`.
[[nodiscard]] std::map<std::string, KeyPosition> key_positions(const std::string& text, const std::string& within = "");
/// Those of them that it has more than once, with the place of the last: the parser takes one of them without a word.
[[nodiscard]] std::map<std::string, KeyPosition> repeated_keys(const std::string& text, const std::string& within = "");
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
/// Why a text is no JSON that can be read, and where.
struct JsonProblem {
  KeyPosition at;
  std::string what;  ///< "invalid JSON: ..."
};
/// Of what the parser reports when it has read that many bytes, the last of which are `token`.
[[nodiscard]] JsonProblem problem_of_parser(const std::string& text, std::size_t bytes, const std::string& token,
                                            const nlohmann::detail::exception& error);
/// Python writes Infinity, which JSON has not: null in its place, all else where it was.
[[nodiscard]] std::string without_infinities(std::string text);
/// Nothing: parsing the text throws nothing, and goes no deeper than `most_levels`.
[[nodiscard]] std::optional<JsonProblem> problem_of_json(const std::string& text, int most_levels);
/// Where objects and arrays are first within each other more often than `most_levels`.
[[nodiscard]] std::optional<KeyPosition> too_deep(const std::string& text, int most_levels);

}  // namespace tessera::workload
