// Whether text from outside may go into files that must be UTF-8.
#pragma once

#include <string_view>

namespace tessera {

/// Whether all of it is well-formed UTF-8, as TOML and JSON are.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace tessera
