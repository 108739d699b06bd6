#include "totals.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"

namespace tessera::results {
namespace {

void check_name(const char* what, std::size_t index, const std::vector<std::string>& names) {
  if (index < names.size()) return;
  throw InternalError("a result row has " + std::string(what) + " " + std::to_string(index) + ", of which there are " +
                      std::to_string(names.size()));
}

/// Of a device that others share its intervals with, as well: they have the same names.
void check_kept(const DeviceIntervals& device, const RunResults& r) {
  for (const StreamIntervals& stream : device.streams()) {
    for (const std::vector<Interval>& some : stream.kept()) {
      for (const Interval& row : some) {
        check_name("label", row.label, r.labels);
        check_name("activity", row.activity, r.activities);
      }
    }
  }
}

/// Mean over all ranks' accelerators, to the nearest picosecond. Quotients and remainders are summed apart, since the
/// sum of the times of ten thousand devices can be beyond 64 bits.
Time mean_of(const std::vector<DeviceRow>& rows, std::size_t activity, std::int64_t devices, Communicator& comm) {
  std::int64_t quotients = 0, remainders = 0;
  for (const DeviceRow& row : rows) {
    if (row.kind != 0) continue;
    quotients += row.activity[activity] / devices;
    remainders += row.activity[activity] % devices;
  }
  return comm.sum(quotients) + (comm.sum(remainders) + devices / 2) / devices;
}

/// Over all ranks. In parts of 40 bits, whose sums over any number of ranks fit into 64.
Int128 sum_of(Int128 value, Communicator& comm) {
  Int128 sum = 0;
  for (unsigned part = 0; part < 3; ++part) {
    constexpr Int128 mask = (Int128{1} << 40U) - 1;
    sum += static_cast<Int128>(comm.sum(static_cast<std::int64_t>(value >> 40U * part & mask))) << 40U * part;
  }
  return sum;
}

Time longest_of(const std::vector<DeviceRow>& rows, std::size_t activity, Communicator& comm) {
  Time longest = 0;
  for (const DeviceRow& row : rows)
    if (row.kind == 0) longest = std::max(longest, row.activity[activity]);
  return comm.max(longest);
}

void find_fullest(SummaryRow& row, Communicator& comm) {
  const std::vector<DeviceRow>& rows = row.results->device_rows;
  std::int64_t most = 0;
  for (const DeviceRow& d : rows)
    if (d.kind == 0) most = std::max(most, d.peak_memory);
  row.peak_memory = comm.max(most);
  constexpr std::int64_t none = std::int64_t{1} << 32;  // device numbers have 32 bits
  std::int64_t fullest = none;
  for (const DeviceRow& d : rows) {
    if (d.kind == 0 && d.peak_memory == row.peak_memory) fullest = std::min<std::int64_t>(fullest, d.device);
  }
  fullest = comm.min(fullest);
  row.peak_memory_device = fullest == none ? 0 : fullest;
}

}  // namespace

void check_rows(const RunResults& r) {
  check_tables(r.tables);
  for (const DeviceRow& row : r.device_rows) {
    if (row.activity.size() != r.activities.size()) {
      throw InternalError("device " + std::to_string(row.device) + " has times of " +
                          std::to_string(row.activity.size()) + " activities, of which there are " +
                          std::to_string(r.activities.size()));
    }
  }
  for (const LinkRow& row : r.link_rows) check_name("link class", row.link_class, r.link_classes);
  for (const MemoryRow& row : r.memory_rows) check_name("memory category", row.category, r.categories);
  for (const MemoryChange& row : r.memory_changes) check_name("memory category", row.category, r.categories);
  for (const CollectiveRow& row : r.collective_rows) {
    check_name("label", row.label, r.labels);
    check_name("collective kind", row.kind, r.collective_kinds);
    check_name("collective algorithm", row.algorithm, r.algorithms);
  }
  for (const DeviceIntervals& device : r.intervals.devices()) check_kept(device, r);
}

SummaryRow total(const RunResults& r, std::uint64_t seed, Communicator& comm) {
  SummaryRow row{&r, seed, {}, {}, 0, 0, 0, 0};
  const auto accelerators = std::ranges::count(r.device_rows, 0U, &DeviceRow::kind);
  const std::int64_t devices = std::max<std::int64_t>(1, comm.sum(static_cast<std::int64_t>(accelerators)));
  for (std::size_t i = 0; i < r.activities.size(); ++i) {
    row.mean.push_back(mean_of(r.device_rows, i, devices, comm));
    row.longest.push_back(longest_of(r.device_rows, i, comm));
  }
  Int128 bytes = 0;
  std::int64_t messages = 0;
  for (const DeviceRow& d : r.device_rows) {
    bytes += d.bytes_sent;
    messages += d.messages;
  }
  row.bytes_sent = sum_of(bytes, comm);
  row.messages = comm.sum(messages);
  find_fullest(row, comm);
  return row;
}

std::vector<CollectiveRow> total_collectives(const std::vector<CollectiveRow>& own, Communicator& comm) {
  std::map<std::tuple<std::uint16_t, std::uint16_t, std::uint16_t, std::uint32_t>, CollectiveRow> sums;
  for (const CollectiveRow& row : joined(gather(comm, own))) {
    CollectiveRow& sum = sums[{row.label, row.kind, row.algorithm, row.group_size}];
    sum = {row.label,
           row.kind,
           row.algorithm,
           row.group_size,
           sum.calls + row.calls,
           sum.bytes + row.bytes,
           sum.total + row.total,
           std::max(sum.longest, row.longest),
           sum.waiting + row.waiting,
           std::max(sum.longest_communication, row.longest_communication)};
  }
  std::vector<CollectiveRow> rows;
  for (const auto& [key, row] : sums) rows.push_back(row);
  return rows;
}

}  // namespace tessera::results
