// Tables that are the same whoever wrote them first.
#pragma once

#include <string>

#include "tessera/base/config.hpp"

namespace tessera::experiment {

/// A hash of the table under `key`, whose keys may stand in any order. Empty: there is none.
[[nodiscard]] std::string fingerprint(const config::Table& resolved, const std::string& key);

}  // namespace tessera::experiment
