// What topologies of several meshes share.
#pragma once

#include <optional>
#include <string>

#include "tessera/base/config.hpp"

namespace tessera::machine {

/// The keys of such a topology: meshes alike of so many dies, with links inside and others between them.
struct MeshesSpec {
  int meshes = 0, columns = 0, rows = 0;
  BytesPerSecond bandwidth, outer_bandwidth;
  Duration latency, outer_latency;

  [[nodiscard]] std::int64_t dies() const { return std::int64_t{columns} * rows; }  ///< of one of them
};

/// Declares the kind and all keys but the outer ones. `meshes`, `mesh`: what several and one of them are called.
void add_meshes(config::Schema<MeshesSpec>& schema, const std::string& kind, const std::string& meshes,
                const std::string& mesh);

/// Reads the table, in which "columns" and "rows" may stand mesh by mesh. Nothing where these differ, or after any
/// other error. `meshes`: as above.
[[nodiscard]] std::optional<MeshesSpec> read_meshes(const config::Schema<MeshesSpec>& schema,
                                                    const config::Table& table, const std::string& meshes,
                                                    config::Diagnostics& diagnostics);

/// Of one of so many links that have it together: rounded, 1 B/s at least.
[[nodiscard]] BytesPerSecond divided(BytesPerSecond bandwidth, std::int64_t links);

}  // namespace tessera::machine
