// Values that are left open.
#pragma once

#include "tessera/base/config.hpp"

namespace tessera::config {

/// "any", or a list.
[[nodiscard]] bool is_open(const Value& value);

}  // namespace tessera::config
