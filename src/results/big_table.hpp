// The tables that grow with the machine or the run: every rank holds some of their rows.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "layout.hpp"
#include "table.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/results/results.hpp"

namespace tessera::results {

/// One such table without the type of its rows.
struct BigTable {
  TableSchema schema;
  Layout layout;
  /// Packs this rank's rows first .. first + count - 1, in the table's order, to `to`.
  std::function<void(std::int64_t first, std::int64_t count, std::byte* to)> pack;
};

/// /devices, /links, /memory, and those that any rank has rows of: /timeline, /memory_timeline, /kernels and the
/// traffic of their memories. They refer to `results`. Every rank calls it.
[[nodiscard]] std::vector<BigTable> big_tables(const RunResults& results, Communicator& comm);

}  // namespace tessera::results
