// An experiment while it is put together from another tool's files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/config.hpp"

namespace tessera::experiment::importing {

struct DraftKey {
  std::string key;  ///< "strategy.tensor"; without a dot: at the top
  config::Value::Content value;
  std::string note;  ///< behind it as a comment: what the source calls it
};

/// A list of inline tables, a line each: the groups and steps of a script, kinds of layers.
struct DraftList {
  std::string section, key;
  std::vector<std::string> items;  ///< "op = \"send\", peer = 1": TOML without the braces
};

struct Draft {
  std::string title;
  std::vector<DraftKey> keys;
  std::vector<std::string> remarks;  ///< comments at the top of the file, a paragraph each
  std::vector<DraftList> lists;      ///< behind the other keys of their sections
};

/// Replaces the key, or adds it.
void put(Draft& draft, std::string_view key, config::Value::Content value, std::string note = {});
[[nodiscard]] const DraftKey* find(const Draft& draft, std::string_view key);
/// Of a whole number; `otherwise` where the key is absent or something else.
[[nodiscard]] std::int64_t whole_in(const Draft& draft, std::string_view key, std::int64_t otherwise);

/// A text as TOML writes it, with what is no printable UTF-8 spelt out.
[[nodiscard]] std::string quoted(const std::string& text);
[[nodiscard]] std::string to_text(const Draft& draft);

}  // namespace tessera::experiment::importing
