// Values as TOML writes them on one line.
#pragma once

#include <string>

#include "tessera/base/config.hpp"

namespace tessera::config {

[[nodiscard]] std::string inline_text(const Value& value);

}  // namespace tessera::config
