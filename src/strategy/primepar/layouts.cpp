#include "layouts.hpp"

#include <set>

#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {
namespace {

/// Exclusive-or of the ids grows with the distance, see redistribute().
std::vector<std::uint64_t> nearest_holders(const std::vector<std::vector<std::uint32_t>>& parts, std::size_t devices) {
  std::vector<std::uint64_t> nearest(devices, 0);
  for (std::size_t to = 0; to < devices; ++to) {
    std::set<std::vector<std::uint32_t>> seen;
    for (std::size_t distance = 0; distance < devices; ++distance) {
      std::vector<std::uint32_t> held;
      for (const auto& axis : parts) held.push_back(axis[to ^ distance]);
      if (seen.insert(std::move(held)).second) nearest[to] |= std::uint64_t{1} << (to ^ distance);
    }
  }
  return nearest;
}

}  // namespace

SharedLayouts::SharedLayouts(const Shared& shared, const std::vector<const Slices*>& producers,
                             const std::vector<const Slices*>& consumers) {
  made_.axes.resize(shared.made.size());
  read_.axes.resize(shared.read.size());
  for (const Slices* slices : producers) {
    made_.after_forward.push_back(layout(made_.axes, *slices, shared.made, Phase::forward, slices->steps() - 1));
    made_.before_backward.push_back(layout(made_.axes, *slices, shared.made, Phase::backward, 0));
  }
  for (const Slices* slices : consumers) {
    read_.before_forward.push_back(layout(read_.axes, *slices, shared.read, Phase::forward, 0));
    read_.after_backward.push_back(
        layout(read_.axes, *slices, shared.read, gradient_phase(shared), slices->steps() - 1));
  }
  intersect();
  for (Layout& held : made_.after_forward) complete(held, true);
  for (Layout& held : read_.after_backward) complete(held, false);
}

SharedLayouts::Layout SharedLayouts::layout(std::vector<Axis>& axes, const Slices& slices, const TensorView& view,
                                            Phase phase, int step) {
  if (slices.devices() > 1 << most_searched_bits) throw InternalError("layouts of too many devices for a mask");
  Layout found;
  found.parts.resize(view.size());
  for (int device = 0; device < slices.devices(); ++device) {
    const std::vector<Range> dimensions = slices.ranges(device, phase, step);
    for (std::size_t i = 0; i < view.size(); ++i) {
      std::vector<Range> along;
      for (const AxisView::Run& run : view[i].runs)
        along.push_back(dimensions[static_cast<std::size_t>(run.dimension)]);
      const auto [at, added] = axes[i].known.try_emplace(along, static_cast<std::uint32_t>(axes[i].parts.size()));
      if (added) axes[i].parts.push_back(ranges_of(view[i], dimensions));
      found.parts[i].push_back(at->second);
    }
  }
  return found;
}

void SharedLayouts::intersect() {
  for (std::size_t axis = 0; axis < made_.axes.size(); ++axis) {
    common_.emplace_back();
    for (const Ranges& made : made_.axes[axis].parts) {
      for (const Ranges& read : read_.axes[axis].parts) common_.back().push_back(length_of(overlap(made, read)));
    }
  }
}

void SharedLayouts::complete(Layout& held, bool is_made) const {
  const std::size_t devices = held.parts.front().size();
  held.nearest = nearest_holders(held.parts, devices);
  for (std::size_t axis = 0; axis < held.parts.size(); ++axis) {
    const std::size_t others = (is_made ? read_ : made_).axes[axis].parts.size();
    held.meets.emplace_back(others, 0);
    for (std::uint32_t other = 0; other < others; ++other) {
      for (std::size_t device = 0; device < devices; ++device) {
        const std::uint32_t own = held.parts[axis][device];
        if ((is_made ? common(axis, own, other) : common(axis, other, own)) > 0)
          held.meets[axis][other] |= std::uint64_t{1} << device;
      }
    }
  }
}

}  // namespace tessera::strategy::primepar
