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

std::uint32_t RangesPool::number_of(const Ranges& ranges) {
  const auto [found, added] = known_.try_emplace(ranges, static_cast<std::uint32_t>(all_.size()));
  if (added) all_.push_back(ranges);
  return found->second;
}

Layout SharedLayouts::layout(std::vector<RangesPool>& pools, const Slices& slices, const TensorView& view, Phase phase,
                             int step) {
  const auto devices = static_cast<std::size_t>(slices.devices());
  if (devices > 64) throw InternalError("layouts of more than 64 devices");
  Layout found;
  found.parts.assign(view.size(), std::vector<std::uint32_t>(devices));
  for (std::size_t device = 0; device < devices; ++device) {
    const Region own = region(slices, view, static_cast<int>(device), phase, step);
    for (std::size_t axis = 0; axis < view.size(); ++axis) found.parts[axis][device] = pools[axis].number_of(own[axis]);
  }
  found.nearest = nearest_holders(found.parts, devices);
  return found;
}

SharedLayouts::Side SharedLayouts::made(const Slices& producer) {
  return {layout(made_, producer, shared_->made, Phase::forward, producer.steps() - 1),
          layout(made_, producer, shared_->made, Phase::backward, 0)};
}

SharedLayouts::Side SharedLayouts::read(const Slices& consumer) {
  return {layout(read_, consumer, shared_->read, Phase::forward, 0),
          layout(read_, consumer, shared_->read, gradient_phase(*shared_), consumer.steps() - 1)};
}

void SharedLayouts::intersect() {
  common_.clear();
  for (std::size_t axis = 0; axis < made_.size(); ++axis) {
    common_.emplace_back();
    for (const Ranges& made : made_[axis].all()) {
      for (const Ranges& read : read_[axis].all()) common_.back().push_back(length_of(overlap(made, read)));
    }
  }
}

}  // namespace tessera::strategy::primepar
