#include "big_table.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <tuple>

#include "tables.hpp"

namespace tessera::results {
namespace {

/// Rows in the order of a key, rows of equal key as they are. Rows that already are in order need no list of indices.
template <class Row>
class Ordered {
 public:
  template <class Key>
  Ordered(const std::vector<Row>& rows, Key key) : rows_(&rows) {
    const auto less_row = [&](const Row& a, const Row& b) { return key(a) < key(b); };
    if (std::is_sorted(rows.begin(), rows.end(), less_row)) return;
    order_.resize(rows.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return less_row(rows[a], rows[b]); });
  }
  [[nodiscard]] std::size_t size() const { return rows_->size(); }
  [[nodiscard]] const Row& operator[](std::size_t i) const { return (*rows_)[order_.empty() ? i : order_[i]]; }

 private:
  const std::vector<Row>* rows_;
  std::vector<std::size_t> order_;
};

template <class Row, class Id>
std::vector<RowsOfId> count_by_id(const Ordered<Row>& rows, Id id) {
  std::vector<RowsOfId> counts;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::int64_t of_row = id(rows[i]);
    if (counts.empty() || counts.back().id != of_row) counts.push_back({of_row, 0});
    ++counts.back().count;
  }
  return counts;
}

/// `id` names the device or link whose rows are together on one rank; `key` orders the rows and starts with it.
template <class Row, class Id, class Key>
BigTable make(Table<Row> table, const std::vector<Row>& rows, Id id, Key key, Communicator& comm) {
  auto ordered = std::make_shared<const Ordered<Row>>(rows, key);
  BigTable big{table.schema(), make_layout(count_by_id(*ordered, id), comm), {}};
  big.pack = [table = std::move(table), ordered](std::int64_t first, std::int64_t count, std::byte* to) {
    for (std::int64_t i = first; i < first + count; ++i, to += table.schema().row_bytes) {
      table.pack((*ordered)[static_cast<std::size_t>(i)], to);
    }
  };
  return big;
}

bool recorded(std::size_t rows, Communicator& comm) { return comm.max(rows > 0 ? 1 : 0) > 0; }

}  // namespace

std::vector<BigTable> big_tables(const RunResults& r, Communicator& comm) {
  const auto of_device = [](const auto& row) -> std::int64_t { return row.device; };
  const auto of_link = [](const LinkRow& row) -> std::int64_t { return row.link; };
  std::vector<BigTable> tables;
  tables.push_back(make(device_table(r), r.device_rows, of_device, of_device, comm));
  tables.push_back(make(link_table(r), r.link_rows, of_link, of_link, comm));
  tables.push_back(make(
      memory_table(r), r.memory_rows, of_device, [](const MemoryRow& m) { return std::tuple(m.device, m.category); },
      comm));
  if (recorded(r.intervals.size(), comm)) {
    tables.push_back(make(
        timeline_table(), r.intervals, of_device,
        [](const Interval& i) { return std::tuple(i.device, i.stream, i.begin); }, comm));
  }
  if (recorded(r.kernel_rows.size(), comm)) {
    tables.push_back(make(
        kernel_table(r), r.kernel_rows, of_device,
        [](const KernelRow& k) { return std::tuple(k.device, k.stream, k.begin); }, comm));
    tables.push_back(make(
        traffic_table(r), r.traffic_rows, of_device,
        [](const TrafficRow& t) { return std::tuple(t.device, t.memory, t.traffic); }, comm));
  }
  if (recorded(r.traffic_bins.size(), comm)) {
    tables.push_back(make(
        traffic_timeline_table(r), r.traffic_bins, of_device,
        [](const TrafficBin& t) { return std::tuple(t.device, t.memory, t.begin, t.traffic); }, comm));
  }
  if (recorded(r.memory_changes.size(), comm)) {
    tables.push_back(make(
        memory_timeline_table(), r.memory_changes, of_device,
        [](const MemoryChange& m) { return std::tuple(m.device, m.time); }, comm));
  }
  return tables;
}

}  // namespace tessera::results
