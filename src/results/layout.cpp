#include "layout.hpp"

#include <algorithm>
#include <string>

#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"

namespace tessera::results {
namespace {

/// The table's rows by id, of all ranks.
std::vector<RowsOfId> ids_of_all_ranks(const std::vector<RowsOfId>& own, Communicator& comm) {
  std::vector<RowsOfId> all = joined(all_gather(comm, own));
  std::sort(all.begin(), all.end(), [](const RowsOfId& a, const RowsOfId& b) { return a.id < b.id; });
  return all;
}

void append(std::vector<Run>& runs, Run run) {
  if (run.count == 0) return;
  if (!runs.empty() && runs.back().position + runs.back().count == run.position) {
    runs.back().count += run.count;
  } else {
    runs.push_back(run);
  }
}

}  // namespace

Layout make_layout(const std::vector<RowsOfId>& own, Communicator& comm) {
  Layout layout;
  auto mine = own.begin();
  const std::vector<RowsOfId> all = ids_of_all_ranks(own, comm);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i > 0 && all[i].id == all[i - 1].id) {
      throw InternalError("two ranks hold rows of id " + std::to_string(all[i].id) + " of the same result table");
    }
    if (mine != own.end() && mine->id == all[i].id) {
      append(layout.runs, {layout.total, mine->count});
      layout.local += mine->count;
      ++mine;
    }
    layout.total += all[i].count;
  }
  return layout;
}

std::vector<Run> part_of(const std::vector<Run>& runs, std::int64_t first, std::int64_t count) {
  std::vector<Run> part;
  std::int64_t before = 0;  // rows of this rank in the runs passed
  for (const Run& run : runs) {
    const std::int64_t begin = std::max(first, before);
    const std::int64_t end = std::min(first + count, before + run.count);
    if (begin < end) append(part, {run.position + begin - before, end - begin});
    before += run.count;
  }
  return part;
}

}  // namespace tessera::results
