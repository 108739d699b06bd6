#include "layout.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "tessera/base/error.hpp"

namespace tessera::results {
namespace {

std::vector<std::byte> to_bytes(const std::vector<RowsOfId>& rows) {
  std::vector<std::byte> bytes(rows.size() * sizeof(RowsOfId));
  if (!rows.empty()) std::memcpy(bytes.data(), rows.data(), bytes.size());
  return bytes;
}

/// Rank 0: the table's rows by id, of all ranks.
std::vector<RowsOfId> merge(const std::vector<std::vector<std::byte>>& parts) {
  std::vector<RowsOfId> all;
  for (const auto& part : parts) {
    const std::size_t old = all.size();
    all.resize(old + part.size() / sizeof(RowsOfId));
    if (!part.empty()) std::memcpy(all.data() + old, part.data(), part.size());
  }
  std::sort(all.begin(), all.end(), [](const RowsOfId& a, const RowsOfId& b) { return a.id < b.id; });
  return all;
}

std::vector<RowsOfId> ids_of_all_ranks(const std::vector<RowsOfId>& own, Communicator& comm) {
  const std::vector<std::byte> merged = to_bytes(merge(comm.gather(to_bytes(own))));
  const std::string text = comm.broadcast(std::string(reinterpret_cast<const char*>(merged.data()), merged.size()));
  std::vector<RowsOfId> all(text.size() / sizeof(RowsOfId));
  if (!all.empty()) std::memcpy(all.data(), text.data(), text.size());
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
