// JSON as a table of the same form as TOML's.
#pragma once

#include <memory>
#include <string>

#include "tessera/base/config.hpp"

namespace tessera::workload {

/// Every value at its own place. A key whose value is null counts as absent, as in configurations of Hugging Face; in
/// a list null is an error, and so is a key that is there twice. Null, and why is reported: it is no JSON object, which
/// is called `expected` then.
[[nodiscard]] std::shared_ptr<config::Table> parse_json(const std::string& text, const std::string& file,
                                                        const std::string& expected, config::Diagnostics& diagnostics);

}  // namespace tessera::workload
