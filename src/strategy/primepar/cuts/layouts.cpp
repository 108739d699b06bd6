#include "layouts.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {

Layouts::Layouts(const TensorView& view, const std::vector<const Slices*>& partitions, Phase phase, bool at_end)
    : axes_(view.size()), known_(view.size()) {
  for (const Slices* slices : partitions) add(*slices, view, phase, at_end ? slices->steps() - 1 : 0);
}

void Layouts::add(const Slices& slices, const TensorView& view, Phase phase, int step) {
  if (slices.devices() > 1 << most_searched_bits) throw InternalError("layouts of too many devices for a mask");
  devices_ = static_cast<std::size_t>(slices.devices());
  const std::vector<std::int64_t> counts = slice_counts(slices.op(), slices.partition());
  std::array<Position, std::size_t{1} << most_searched_bits> at;
  for (std::size_t device = 0; device < devices_; ++device)
    at[device] = slices.at(static_cast<int>(device), phase, step);
  for (std::size_t axis = 0; axis < view.size(); ++axis) {
    std::vector<std::int64_t> own;  // what it is cut into, and the slice of each device
    for (const AxisView::Run& run : view[axis].runs) own.push_back(counts[static_cast<std::size_t>(run.dimension)]);
    for (std::size_t device = 0; device < devices_; ++device) {
      std::int64_t slice = 0;
      for (const AxisView::Run& run : view[axis].runs) {
        const auto i = static_cast<std::size_t>(run.dimension);
        slice = slice * counts[i] + at[device][i];
      }
      own.push_back(slice);
    }
    Known& known = known_[axis];
    const auto [found, is_new] = known.cuts.try_emplace(own, static_cast<std::uint32_t>(known.cuts.size()));
    cuts_.push_back(found->second);
    if (is_new)
      add_cut(axis, own, [&](int device) { return ranges_of(view[axis], slices.ranges(device, phase, step)); });
  }
}

template <class RangesOf>
void Layouts::add_cut(std::size_t axis, const std::vector<std::int64_t>& slices, const RangesOf& ranges_of_device) {
  Axis& all = axes_[axis];
  all.cuts.emplace_back();
  std::vector<std::int64_t> slice(slices.begin(), slices.end() - static_cast<std::ptrdiff_t>(devices_));
  const std::size_t runs = slice.size();
  slice.emplace_back();
  for (std::size_t device = 0; device < devices_; ++device) {
    slice.back() = slices[runs + device];
    const auto [part, added] = known_[axis].parts.try_emplace(slice, static_cast<std::uint32_t>(all.parts.size()));
    if (added) all.parts.push_back(ranges_of_device(static_cast<int>(device)));
    all.cuts.back().push_back(part->second);
  }
}

Redistributions::Redistributions(Layouts held, Layouts needed, Patterns& patterns)
    : held_(std::move(held)), needed_(std::move(needed)), patterns_(&patterns) {
  axes_.resize(held_.axes().size());
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    intersect(axis);
    for (const auto& from : held_.axes()[axis].cuts) {
      for (const auto& to : needed_.axes()[axis].cuts) axes_[axis].pairs.push_back(match(axis, from, to));
    }
    if (axes_[axis].pairs.size() >= axes_[varied_axis_].pairs.size()) varied_axis_ = axis;
  }
  for (std::size_t layout = 0; layout < held_.size(); ++layout)
    nearest_of_.push_back(nearest_.number(patterns_->number(nearest_holders(layout))));
  measure_needed();
  share();
}

std::uint32_t Redistributions::Few::number(std::uint32_t pattern) {
  const auto [found, added] = numbers.try_emplace(pattern, static_cast<std::uint32_t>(all.size()));
  if (added) all.push_back(pattern);
  return found->second;
}

void Redistributions::share() {
  for (const Pair& pair : axes_[varied_axis_].pairs) column_of_.push_back(columns_.number(pair.pattern));
  groups_ = groups_of(needed_);
  const Groups holders = groups_of(held_);
  group_of_.resize(held_.size());
  const std::uint32_t everybody = patterns_->number(std::vector<std::uint64_t>(held_.devices(), ~std::uint64_t{0}));
  for (std::uint32_t group = 0; group < holders.size(); ++group) {
    for (const Member& member : holders[group]) group_of_[member.layout] = group;
    for (const std::vector<Member>& needing : groups_) {
      std::uint32_t shared = everybody;
      for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
        if (axis != varied_axis_)
          shared = patterns_->both(shared, along(axis, holders[group].front().layout, needing.front().layout).pattern);
      }
      shared_of_.push_back(shared_.number(shared));
    }
  }
  row_of_.assign(nearest_.all.size() * shared_.all.size(), unknown);
}

/// Of `both_`, with all columns.
std::uint32_t Redistributions::row(std::uint32_t nearest, std::uint32_t shared) {
  std::uint32_t& found = row_of_[nearest * shared_.all.size() + shared];
  if (found != unknown) return found;
  found = rows_.number(patterns_->both(nearest_.all[nearest], shared_.all[shared]));
  both_.resize(rows_.all.size() * columns_.all.size(), unknown);
  return found;
}

std::int64_t Redistributions::unit(std::size_t held, std::size_t needed) const {
  std::int64_t elements = 1;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) elements *= along(axis, held, needed).elements;
  return elements;
}

/// What the first device needs, in numbers: with a pattern it decides what all need.
void Redistributions::measure_needed() {
  std::map<std::int64_t, std::uint32_t> known;
  for (std::size_t layout = 0; layout < needed_.size(); ++layout) {
    std::int64_t elements = 1;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis)
      elements *= length_of(needed_.axes()[axis].parts[needed_.part(layout, axis, 0)]);
    size_of_.push_back(known.try_emplace(elements, static_cast<std::uint32_t>(known.size())).first->second);
  }
  sizes_ = known.size();
}

Redistributions::Groups Redistributions::groups_of(const Layouts& layouts) const {
  Groups groups;
  std::map<std::vector<std::uint32_t>, std::size_t> known;
  for (std::size_t layout = 0; layout < layouts.size(); ++layout) {
    std::vector<std::uint32_t> cuts;
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      if (axis != varied_axis_) cuts.push_back(layouts.cut(layout, axis));
    }
    const auto [found, added] = known.try_emplace(std::move(cuts), groups.size());
    if (added) groups.emplace_back();
    groups[found->second].push_back({static_cast<std::uint32_t>(layout), layouts.cut(layout, varied_axis_)});
  }
  return groups;
}

/// Exclusive-or of the ids grows with the distance, see redistribute().
std::vector<std::uint64_t> Redistributions::nearest_holders(std::size_t held) const {
  const std::size_t devices = held_.devices();
  std::vector<std::uint64_t> holds(devices, 0);  // a number for all that a device holds, ...
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    for (std::size_t device = 0; device < devices; ++device)
      holds[device] = holds[device] * held_.axes()[axis].parts.size() + held_.part(held, axis, device);
  }
  std::vector<std::size_t> what;  // ... and the first device that holds the same
  for (const std::uint64_t one : holds)
    what.push_back(static_cast<std::size_t>(std::ranges::find(holds, one) - holds.begin()));
  std::vector<std::uint64_t> nearest(devices, 0);
  for (std::size_t to = 0; to < devices; ++to) {
    std::uint64_t seen = 0;
    for (std::size_t distance = 0; distance < devices; ++distance) {
      const std::uint64_t one = std::uint64_t{1} << what[to ^ distance];
      if ((seen & one) == 0) nearest[to] |= std::uint64_t{1} << (to ^ distance);
      seen |= one;
    }
  }
  return nearest;
}

void Redistributions::intersect(std::size_t axis) {
  for (const Ranges& held : held_.axes()[axis].parts) {
    for (const Ranges& needed : needed_.axes()[axis].parts)
      axes_[axis].common.push_back(length_of(overlap(held, needed)));
  }
}

Redistributions::Pair Redistributions::match(std::size_t axis, const std::vector<std::uint32_t>& held,
                                             const std::vector<std::uint32_t>& needed) {
  std::vector<std::uint64_t> senders(needed.size(), 0);
  std::int64_t all = 0;
  bool is_even = true;
  std::vector<std::size_t> first(needed_.axes()[axis].parts.size(), needed.size());  // device that needs that part
  for (std::size_t to = 0; to < needed.size(); ++to) {
    std::size_t& same = first[needed[to]];
    if (same < to) {
      senders[to] = senders[same];
      continue;
    }
    same = to;
    for (std::size_t from = 0; from < held.size(); ++from) {
      const std::int64_t elements = common(axis, held[from], needed[to]);
      if (elements == 0) continue;
      senders[to] |= std::uint64_t{1} << from;
      is_even = is_even && (all == 0 || all == elements);
      all = elements;
    }
  }
  return {patterns_->number(senders, is_even ? 0 : patterns_->new_weights()), is_even ? all : 1};
}

Redistributions forward_redistributions(const Shared& shared, const std::vector<const Slices*>& producers,
                                        const std::vector<const Slices*>& consumers, Patterns& patterns) {
  return {Layouts(shared.made, producers, Phase::forward, true), Layouts(shared.read, consumers, Phase::forward, false),
          patterns};
}

Redistributions backward_redistributions(const Shared& shared, const std::vector<const Slices*>& producers,
                                         const std::vector<const Slices*>& consumers, Patterns& patterns) {
  return {Layouts(shared.read, consumers, gradient_phase(shared), true),
          Layouts(shared.made, producers, Phase::backward, false), patterns};
}

}  // namespace tessera::strategy::primepar
