// Where each rank's rows stand in a table that all ranks write, so that the rows are in the order of their ids however
// the ids are spread over the ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/comm.hpp"

namespace tessera::results {

/// Rows `count` of one id (a device's intervals, a link's single row); all rows of an id are on one rank.
struct RowsOfId {
  std::int64_t id = 0;
  std::int64_t count = 0;
};

/// Rows that stand together: in this rank's order and in the table's.
struct Run {
  std::int64_t position = 0;  ///< of the first row in the table
  std::int64_t count = 0;
};

/// One table as one rank sees it.
struct Layout {
  std::int64_t total = 0;  ///< rows over all ranks
  std::int64_t local = 0;  ///< rows of this rank
  std::vector<Run> runs;   ///< of this rank, ascending; neighbours are merged
};

/// `own`: this rank's ids, ascending, each once. Every rank calls it. An id on two ranks is an InternalError on all of
/// them.
[[nodiscard]] Layout make_layout(const std::vector<RowsOfId>& own, Communicator& comm);

/// The part of `runs` that holds this rank's rows first .. first + count - 1.
[[nodiscard]] std::vector<Run> part_of(const std::vector<Run>& runs, std::int64_t first, std::int64_t count);

}  // namespace tessera::results
