// A partition node by node, for result files (docs/results.md).
#pragma once

#include <vector>

#include "package.hpp"
#include "tessera/base/data_table.hpp"

namespace tessera::strategy::mcm {

/// /partition: nodes by number, then device; replicated ones are on each chip that has a copy. /graph_edges: by from,
/// then to, none twice, with all tensors between the two.
[[nodiscard]] std::vector<DataTable> placement_tables(const Package& package, const Partition& partition);

}  // namespace tessera::strategy::mcm
