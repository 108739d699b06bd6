#include "layouts.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
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
  std::vector<Position> at;
  for (int device = 0; device < slices.devices(); ++device) at.push_back(slices.at(device, phase, step));
  cuts_.emplace_back();
  for (std::size_t axis = 0; axis < view.size(); ++axis) {
    std::vector<Slice> own(devices_);
    for (std::size_t device = 0; device < devices_; ++device) {
      for (const AxisView::Run& run : view[axis].runs) {
        const auto i = static_cast<std::size_t>(run.dimension);
        own[device].insert(own[device].end(), {at[device][i], counts[i]});
      }
    }
    Known& known = known_[axis];
    const auto number = static_cast<std::uint32_t>(known.cuts.size());
    const auto [found, is_new] = known.cuts.try_emplace(own, number);
    cuts_.back().push_back(found->second);
    if (!is_new) continue;
    axes_[axis].cuts.emplace_back();
    for (std::size_t device = 0; device < devices_; ++device) {
      const auto [part, added] =
          known.parts.try_emplace(own[device], static_cast<std::uint32_t>(axes_[axis].parts.size()));
      if (added)
        axes_[axis].parts.push_back(ranges_of(view[axis], slices.ranges(static_cast<int>(device), phase, step)));
      axes_[axis].cuts.back().push_back(part->second);
    }
  }
}

std::size_t SenderSets::Hash::operator()(const Senders& senders) const {
  return std::hash<std::string_view>{}(
      {reinterpret_cast<const char*>(senders.data()), senders.size() * sizeof senders[0]});
}

std::uint32_t SenderSets::number(const Senders& senders) {
  const auto [found, added] = numbers_.try_emplace(senders, static_cast<std::uint32_t>(senders_.size()));
  if (added) senders_.push_back(senders);
  return found->second;
}

std::uint32_t SenderSets::intersect(std::uint32_t one, std::uint32_t other) {
  Senders senders = senders_[one];
  for (std::size_t to = 0; to < senders.size(); ++to) senders[to] &= senders_[other][to];
  if (both_.size() <= one) both_.resize(one + 1);
  if (both_[one].size() <= other) both_[one].resize(other + 1, unknown);
  return both_[one][other] = number(senders);
}

Redistributions::Redistributions(Layouts held, Layouts needed) : held_(std::move(held)), needed_(std::move(needed)) {
  axes_.resize(held_.axes().size());
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    intersect(axis);
    for (const auto& from : held_.axes()[axis].cuts) {
      for (const auto& to : needed_.axes()[axis].cuts) axes_[axis].pairs.push_back(match(axis, from, to));
    }
  }
  for (std::size_t layout = 0; layout < held_.size(); ++layout)
    nearest_of_.push_back(sets_.number(nearest_holders(layout)));
  group_needed();
}

void Redistributions::group_needed() {
  const std::vector<Layouts::Axis>& axes = needed_.axes();
  for (std::size_t axis = 1; axis < axes.size(); ++axis) {
    if (axes_[axis].pairs.size() >= axes_[varied_axis_].pairs.size()) varied_axis_ = axis;
  }
  std::map<std::vector<std::uint32_t>, std::size_t> known;
  for (std::size_t layout = 0; layout < needed_.size(); ++layout) {
    std::vector<std::uint32_t> cuts;
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      if (axis != varied_axis_) cuts.push_back(needed_.cut(layout, axis));
    }
    const auto [found, added] = known.try_emplace(std::move(cuts), groups_.size());
    if (added) groups_.emplace_back();
    groups_[found->second].push_back({static_cast<std::uint32_t>(layout), needed_.cut(layout, varied_axis_)});
  }
}

/// Exclusive-or of the ids grows with the distance, see redistribute().
Senders Redistributions::nearest_holders(std::size_t held) const {
  const std::size_t devices = held_.devices();
  std::vector<std::uint64_t> holds(devices, 0);  // a number for all that a device holds, ...
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    for (std::size_t device = 0; device < devices; ++device)
      holds[device] = holds[device] * held_.axes()[axis].parts.size() + held_.part(held, axis, device);
  }
  std::vector<std::size_t> what;  // ... and the first device that holds the same
  for (const std::uint64_t one : holds)
    what.push_back(static_cast<std::size_t>(std::ranges::find(holds, one) - holds.begin()));
  Senders nearest(devices, 0);
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

Redistributions::Messages Redistributions::match(std::size_t axis, const std::vector<std::uint32_t>& held,
                                                 const std::vector<std::uint32_t>& needed) {
  Senders senders(needed.size(), 0);
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
  return {sets_.number(senders), is_even ? all : 0};
}

Redistributions forward_redistributions(const Shared& shared, const std::vector<const Slices*>& producers,
                                        const std::vector<const Slices*>& consumers) {
  return {Layouts(shared.made, producers, Phase::forward, true),
          Layouts(shared.read, consumers, Phase::forward, false)};
}

Redistributions backward_redistributions(const Shared& shared, const std::vector<const Slices*>& producers,
                                         const std::vector<const Slices*>& consumers) {
  return {Layouts(shared.read, consumers, gradient_phase(shared), true),
          Layouts(shared.made, producers, Phase::backward, false)};
}

}  // namespace tessera::strategy::primepar
