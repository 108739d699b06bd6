#include "big_table.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <tuple>

#include "tables.hpp"

namespace tessera::results {
namespace {

/// Rows that are packed together, column by column: they stay in the processor's cache.
constexpr std::int64_t at_a_time = 512;

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
  /// Rows first .. first + count - 1, as far as they stand together where they are.
  [[nodiscard]] std::span<const Row> some(std::size_t first, std::size_t count) const {
    return {&(*this)[first], order_.empty() ? count : 1};
  }

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
    for (std::int64_t i = first; i < first + count;) {
      const auto some =
          ordered->some(static_cast<std::size_t>(i), static_cast<std::size_t>(std::min(at_a_time, first + count - i)));
      table.pack(some, to);
      i += std::ssize(some);
      to += some.size() * table.schema().row_bytes;
    }
  };
  return big;
}

/// Devices in order, and where the rows of each begin.
struct OrderedDevices {
  explicit OrderedDevices(const Timeline& timeline) {
    for (const DeviceIntervals& device : timeline.devices()) devices.push_back(&device);
    std::ranges::stable_sort(devices, {}, &DeviceIntervals::device);
    for (const DeviceIntervals* device : devices) ends.push_back((ends.empty() ? 0 : ends.back()) + device->size());
  }
  /// Row first and those behind it, of one device and so many at most; how many they are.
  std::int64_t copy(std::int64_t first, std::int64_t count, Interval* to) const {
    const std::size_t place = static_cast<std::size_t>(std::ranges::upper_bound(ends, first) - ends.begin());
    const std::int64_t some = std::min(count, ends[place] - first);
    devices[place]->copy(devices[place]->size() - (ends[place] - first), some, to);
    return some;
  }

  std::vector<const DeviceIntervals*> devices;
  std::vector<std::int64_t> ends;
};

// Its rows are made while they are packed.
BigTable make_timeline(const Timeline& timeline, Communicator& comm) {
  auto ordered = std::make_shared<const OrderedDevices>(timeline);
  std::vector<RowsOfId> counts;
  for (const DeviceIntervals* device : ordered->devices)
    if (device->size() > 0) counts.push_back({device->device(), device->size()});
  Table<Interval> table = timeline_table();
  BigTable big{table.schema(), make_layout(counts, comm), {}};
  big.pack = [table = std::move(table), ordered](std::int64_t first, std::int64_t count, std::byte* to) {
    std::vector<Interval> rows(static_cast<std::size_t>(std::min(at_a_time, count)));
    for (std::int64_t i = first; i < first + count;) {
      const std::int64_t some = ordered->copy(i, std::min(at_a_time, first + count - i), rows.data());
      table.pack({rows.data(), static_cast<std::size_t>(some)}, to);
      i += some;
      to += static_cast<std::size_t>(some) * table.schema().row_bytes;
    }
  };
  return big;
}

bool recorded(std::int64_t rows, Communicator& comm) { return comm.max(rows > 0 ? 1 : 0) > 0; }

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
  if (recorded(r.intervals.size(), comm)) tables.push_back(make_timeline(r.intervals, comm));
  if (recorded(std::ssize(r.kernel_rows), comm)) {
    tables.push_back(make(
        kernel_table(r), r.kernel_rows, of_device,
        [](const KernelRow& k) { return std::tuple(k.device, k.stream, k.begin); }, comm));
    tables.push_back(make(
        traffic_table(r), r.traffic_rows, of_device,
        [](const TrafficRow& t) { return std::tuple(t.device, t.memory, t.traffic); }, comm));
  }
  if (recorded(std::ssize(r.traffic_bins), comm)) {
    tables.push_back(make(
        traffic_timeline_table(r), r.traffic_bins, of_device,
        [](const TrafficBin& t) { return std::tuple(t.device, t.memory, t.begin, t.traffic); }, comm));
  }
  if (recorded(std::ssize(r.memory_changes), comm)) {
    tables.push_back(make(
        memory_timeline_table(), r.memory_changes, of_device,
        [](const MemoryChange& m) { return std::tuple(m.device, m.time); }, comm));
  }
  return tables;
}

}  // namespace tessera::results
