#include "tessera/results/digest.hpp"

#include <algorithm>
#include <cstring>

#include "tables.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"
#include "totals.hpp"

namespace tessera::results {
namespace {

/// Whole numbers, so that no order of summation shows.
struct ClassTotal {
  Int128 busy = 0;
  std::int64_t links = 0;
  Time most_busy = 0;
};

/// One for each of the run's link classes.
std::vector<ClassTotal> own_links(const RunResults& r) {
  std::vector<ClassTotal> totals(r.link_classes.size());
  for (const LinkRow& link : r.link_rows) {
    ClassTotal& total = totals[link.link_class];
    total.busy += link.busy;
    total.most_busy = std::max(total.most_busy, link.busy);
    ++total.links;
  }
  return totals;
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

std::vector<Digest::LinkClass> link_classes(const RunResults& r, const std::vector<std::vector<ClassTotal>>& of_ranks) {
  std::vector<Digest::LinkClass> classes;
  const auto time = static_cast<double>(r.iteration_time);
  for (std::size_t i = 0; i < r.link_classes.size(); ++i) {
    ClassTotal total;
    for (const std::vector<ClassTotal>& of_rank : of_ranks) {
      total.busy += of_rank[i].busy;
      total.links += of_rank[i].links;
      total.most_busy = std::max(total.most_busy, of_rank[i].most_busy);
    }
    if (total.links == 0) continue;
    classes.push_back({r.link_classes[i],
                       share(static_cast<double>(total.busy), static_cast<double>(total.links) * time),
                       share(static_cast<double>(total.most_busy), time)});
  }
  return classes;
}

/// By category; zeros on the ranks that do not have the device.
std::vector<std::int64_t> own_memory(const RunResults& r, std::int64_t device) {
  std::vector<std::int64_t> held(r.categories.size());
  for (const MemoryRow& row : r.memory_rows) {
    if (row.device == device) held[row.category] += row.at_peak;
  }
  return held;
}

/// The values of a packed row, as they stand in a file.
std::vector<std::pair<std::string, PointCell>> values_of(const Table<SummaryRow>& table, const SummaryRow& row) {
  std::vector<std::byte> packed(table.schema().row_bytes);
  table.pack(row, packed.data());
  std::vector<std::pair<std::string, PointCell>> values;
  for (const Column& column : table.schema().columns) {
    const std::byte* at = packed.data() + column.offset;
    const auto number = [at](auto value) {
      std::memcpy(&value, at, sizeof value);
      return value;
    };
    if (column.type == ColumnType::text) {
      const char* text = reinterpret_cast<const char*>(at);
      values.emplace_back(column.name, std::string(text, strnlen(text, column.width)));
    } else if (column.type == ColumnType::float64) {
      values.emplace_back(column.name, number(double{}));
    } else if (column.type == ColumnType::int64) {
      values.emplace_back(column.name, number(std::int64_t{}));
    } else {
      values.emplace_back(column.name, std::int64_t{number(std::int32_t{})});
    }
  }
  return values;
}

}  // namespace

Digest digest(const RunResults& r, std::uint64_t seed, Communicator& comm) {
  together(comm, [&] { check_rows(r); });
  const SummaryRow row = total(r, seed, comm);
  const std::vector<std::vector<ClassTotal>> links = gather(comm, own_links(r));
  const std::vector<std::vector<std::int64_t>> memory = gather(comm, own_memory(r, row.peak_memory_device));
  Digest digest;
  if (comm.rank() != 0) return digest;
  digest.summary = values_of(summary_table(r), row);
  digest.links = link_classes(r, links);
  for (std::size_t i = 0; i < r.categories.size(); ++i) {
    std::int64_t held = 0;
    for (const std::vector<std::int64_t>& of_rank : memory) held += of_rank[i];
    digest.memory.emplace_back(r.categories[i], held);
  }
  return digest;
}

}  // namespace tessera::results
