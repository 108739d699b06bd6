// What topologies of several meshes share.
#pragma once

#include <memory>

#include "tessera/base/config.hpp"

namespace tessera::machine {

/// The table with "columns" and "rows" as one number each, which it may give mesh by mesh; null where these differ,
/// which is reported. `meshes`: what the table calls them.
[[nodiscard]] std::shared_ptr<config::Table> with_one_size(const config::Table& table, const char* meshes,
                                                           config::Diagnostics& diagnostics);

/// Of one of so many links that have it together: rounded, 1 B/s at least.
[[nodiscard]] BytesPerSecond divided(BytesPerSecond bandwidth, std::int64_t links);

}  // namespace tessera::machine
