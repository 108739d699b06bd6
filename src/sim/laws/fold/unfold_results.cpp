#include "sim/laws/fold/unfold_results.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace tessera::sim {
namespace {

/// A share of the parts for each rank.
struct Share {
  std::uint32_t rank = 0, ranks = 1;
  [[nodiscard]] bool has(std::uint32_t shifts) const { return shifts % ranks == rank; }
};

/// The rows of a device that was simulated, for one that it stands for.
struct DeviceRows {
  program::DeviceId device = 0;
  std::uint32_t shifts = 0;
  std::size_t begin = 0, end = 0;
};

/// Rows of devices, those of one together, for all. There may be millions: each is written once, to its place.
template <class Row>
void repeat(const Fold& fold, Share share, std::vector<Row>& rows, const auto& change) {
  const std::vector<Row> simulated = std::exchange(rows, {});
  std::vector<DeviceRows> parts;
  std::size_t total = 0;
  for (std::size_t begin = 0, end = 0; begin < simulated.size(); begin = end) {
    while (end < simulated.size() && simulated[end].device == simulated[begin].device) ++end;
    for (std::uint32_t shifts = 0; shifts < fold.order(); ++shifts) {
      if (!share.has(shifts)) continue;
      parts.push_back({fold.shifted(simulated[begin].device, shifts), shifts, begin, end});
      total += end - begin;
    }
  }
  std::ranges::stable_sort(parts, {}, &DeviceRows::device);
  rows.reserve(total);
  for (const DeviceRows& part : parts) {
    for (std::size_t i = part.begin; i < part.end; ++i) {
      rows.push_back(simulated[i]);
      rows.back().device = part.device;
      change(rows.back(), part.shifts);
    }
  }
}

/// Peers and groups that a device's intervals name, each once, in order.
struct NamesUsed {
  std::vector<std::int32_t> peers, groups;
};

void add_once(std::vector<std::int32_t>& names, std::int32_t name) {
  const auto place = std::ranges::lower_bound(names, name);
  if (name >= 0 && (place == names.end() || *place != name)) names.insert(place, name);
}

NamesUsed names_in(const results::DeviceIntervals& device) {
  NamesUsed used;
  for (const results::StreamIntervals& stream : device.streams()) {
    for (const std::vector<results::Interval>& some : stream.kept()) {
      for (const results::Interval& one : some) {
        add_once(used.peers, one.peer);
        add_once(used.groups, one.group);
      }
    }
  }
  return used;
}

/// What another device, so many shifts on, has in place of these names.
results::OtherNames shifted_names(const Fold& fold, program::DeviceId of, const NamesUsed& used, std::uint32_t shifts) {
  results::OtherNames names;
  for (const std::int32_t peer : used.peers) {
    const auto device = static_cast<program::DeviceId>(peer);
    if (fold.takes_part(device)) names.peers.emplace_back(peer, fold.peer_of_shifted(of, device, shifts));
  }
  for (const std::int32_t group : used.groups)
    names.groups.emplace_back(group, fold.group_of_shifted(static_cast<program::GroupId>(group), of, shifts));
  return names;
}

/// The intervals of all devices that are like simulated ones refer to theirs.
void repeat_intervals(const Fold& fold, Share share, results::Timeline& timeline) {
  const results::Timeline simulated = std::exchange(timeline, {});
  for (const results::DeviceIntervals& device : simulated.devices()) {
    const NamesUsed used = names_in(device);
    for (std::uint32_t shifts = 0; shifts < fold.order(); ++shifts)
      if (share.has(shifts))
        timeline.add(
            device.renamed(fold.shifted(device.device(), shifts), shifted_names(fold, device.device(), used, shifts)));
  }
}

/// Every live link has a row, used or not.
void repeat_links(const Fold& fold, Share share, const machine::Machine& machine, std::vector<results::LinkRow>& rows) {
  std::unordered_map<std::uint32_t, std::size_t> row_of;
  const std::vector<results::LinkRow> simulated = std::exchange(rows, {});
  for (std::size_t i = 0; i < simulated.size(); ++i) row_of[simulated[i].link] = i;
  for (machine::LinkId id = 0; id < machine.network.links.size(); ++id) {
    const machine::Link& link = machine.network.links[id];
    if (link.dead) continue;
    results::LinkRow row;
    const bool takes_part = fold.link_takes_part(id);
    if (!share.has(takes_part ? fold.link_shifts(id) : 0)) continue;
    if (takes_part) {
      const auto found = row_of.find(fold.simulated_link(id));
      if (found != row_of.end()) row = simulated[found->second];
    }
    row.link = id;
    row.from = link.from;
    row.to = link.to;
    row.link_class = link.link_class;
    row.bandwidth = link.bandwidth.value();
    rows.push_back(row);
  }
}

/// Rows of devices so many shifts behind the first ones as theirs.
template <class Row>
std::vector<Row> shifted_back(const Fold& fold, std::uint32_t shifts, std::vector<Row> rows) {
  for (Row& row : rows) {
    row.device = fold.shifted_back(row.device, shifts);
    if constexpr (requires { row.node; }) row.node = 0;
  }
  std::ranges::stable_sort(rows, {}, &Row::device);
  return rows;
}

/// Whether the devices so many shifts behind the first ones have the intervals of these: device by device, since all of
/// them may be many.
bool intervals_are_alike(const Fold& fold, std::uint32_t shifts, const results::Timeline& first,
                         const results::Timeline& other) {
  const auto rows_of = [](const results::DeviceIntervals& device) {
    std::vector<results::Interval> rows(static_cast<std::size_t>(device.size()));
    device.copy(0, device.size(), rows.data());
    return rows;
  };
  std::map<program::DeviceId, const results::DeviceIntervals*> by_device;
  for (const results::DeviceIntervals& device : other.devices()) by_device[device.device()] = &device;
  const auto has_the_same = [&](const results::DeviceIntervals& device) {
    const auto there = by_device.find(fold.shifted(device.device(), shifts));
    if (there == by_device.end()) return false;
    const auto names = shifted_names(fold, device.device(), names_in(device), shifts);
    return rows_of(device.renamed(there->first, names)) == rows_of(*there->second);
  };
  return first.devices().size() == other.devices().size() && std::ranges::all_of(first.devices(), has_the_same);
}

/// Of the links that take part.
std::vector<results::LinkRow> links_shifted_back(const Fold& fold, std::uint32_t shifts,
                                                 std::vector<results::LinkRow> rows) {
  std::erase_if(rows, [&](const results::LinkRow& row) { return !fold.link_takes_part(row.link); });
  for (results::LinkRow& row : rows) {
    row.link = fold.shifted_link(row.link, fold.order() - shifts);
    row.from = row.to = row.link_class = 0;
  }
  std::ranges::sort(rows, {}, &results::LinkRow::link);
  return rows;
}

}  // namespace

bool did_the_same(const Fold& fold, std::uint32_t shifts, const results::RunResults& first,
                  const results::RunResults& other) {
  const auto are_alike = [&](const auto& ours, const auto& theirs) {
    return shifted_back(fold, 0, ours) == shifted_back(fold, shifts, theirs);
  };
  return first.iteration_time == other.iteration_time && first.phases == other.phases &&
         are_alike(first.device_rows, other.device_rows) && are_alike(first.memory_rows, other.memory_rows) &&
         intervals_are_alike(fold, shifts, first.intervals, other.intervals) &&
         are_alike(first.memory_changes, other.memory_changes) && first.collective_rows == other.collective_rows &&
         links_shifted_back(fold, 0, first.link_rows) == links_shifted_back(fold, shifts, other.link_rows);
}

void unfold(const Fold& fold, const machine::Machine& machine, const Communicator& comm, results::RunResults& results) {
  const Share share{static_cast<std::uint32_t>(comm.rank()), static_cast<std::uint32_t>(comm.size())};
  const auto nothing = [](auto&, std::uint32_t) {};
  repeat(fold, share, results.device_rows, [&](results::DeviceRow& row, std::uint32_t) {
    row.node = static_cast<std::uint32_t>(machine.places[row.device].node);
  });
  repeat(fold, share, results.memory_rows, nothing);
  repeat_intervals(fold, share, results.intervals);
  repeat(fold, share, results.memory_changes, nothing);
  repeat_links(fold, share, machine, results.link_rows);
  if (share.rank == 0) return;
  results.collective_rows.clear();
  results.node_names.clear();
  results.stream_names.clear();
  results.groups.clear();
}

}  // namespace tessera::sim
