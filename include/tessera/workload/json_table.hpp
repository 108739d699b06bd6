// JSON as a table of the same form as TOML's.
#pragma once

#include <memory>
#include <string>

#include "tessera/base/config.hpp"

namespace tessera::workload {

struct JsonRules {
  std::string expected = "an object";  ///< what it should be, for the message of a text that is none
  bool drops_nulls = false;            ///< null in a list is left out; otherwise an error
};

/// Every value at its own place. A key whose value is null counts as absent, as in configurations of Hugging Face; a
/// key that is there twice is an error. Null, and why is reported: it is no JSON object.
[[nodiscard]] std::shared_ptr<config::Table> parse_json(const std::string& text, const std::string& file,
                                                        const JsonRules& rules, config::Diagnostics& diagnostics);

}  // namespace tessera::workload
