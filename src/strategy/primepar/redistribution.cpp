#include "redistribution.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {

Ranges overlap(const Ranges& a, const Ranges& b) {
  Ranges common;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Range range{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (range.size() > 0) common.push_back(range);
    a[i].end < b[j].end ? ++i : ++j;
  }
  return common;
}

namespace {

/// Sorted, and those that touch as one.
Ranges joined(Ranges ranges) {
  std::sort(ranges.begin(), ranges.end());
  Ranges found;
  for (const Range& range : ranges) {
    if (range.size() <= 0) continue;
    if (!found.empty() && range.begin <= found.back().end) {
      found.back().end = std::max(found.back().end, range.end);
    } else {
      found.push_back(range);
    }
  }
  return found;
}

Region overlap(const Region& a, const Region& b) {
  Region common;
  for (std::size_t i = 0; i < a.size(); ++i) common.push_back(overlap(a[i], b[i]));
  return common;
}

/// Everything that some region has of each axis.
Region hull(const std::vector<Region>& regions) {
  Region all = regions.front();
  for (const Region& region : regions) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i].insert(all[i].end(), region[i].begin(), region[i].end());
  }
  for (Ranges& axis : all) axis = joined(axis);
  return all;
}

TensorView plain_view(const Operator& op, Tensor tensor) {
  TensorView view;
  for (const int dimension : op.dimensions_of(tensor)) view.push_back({0, {{dimension, 1}}});
  return view;
}

std::vector<std::int64_t> extents(const Operator& op, Tensor tensor) {
  std::vector<std::int64_t> found;
  for (const int dimension : op.dimensions_of(tensor))
    found.push_back(op.dimensions[static_cast<std::size_t>(dimension)].extent);
  return found;
}

}  // namespace

Shared plain(const Operator& producer, const Operator& consumer, Tensor operand) {
  if (extents(producer, Tensor::output) != extents(consumer, operand))
    throw InternalError(fmt::format("operator {} makes {} elements, and operator {} reads {}", producer.name,
                                    fmt::join(extents(producer, Tensor::output), " x "), consumer.name,
                                    fmt::join(extents(consumer, operand), " x ")));
  return {plain_view(producer, Tensor::output), plain_view(consumer, operand), operand};
}

Phase gradient_phase(const Shared& shared) {
  return shared.operand == Tensor::input ? Phase::backward : Phase::gradient;
}

std::int64_t length_of(const Ranges& ranges) {
  std::int64_t length = 0;
  for (const Range& range : ranges) length += range.size();
  return length;
}

std::int64_t elements_of(const Region& region) {
  std::int64_t elements = 1;
  for (const Ranges& axis : region) elements *= length_of(axis);
  return elements;
}

Ranges ranges_of(const AxisView& axis, const std::vector<Range>& dimensions) {
  Ranges found{{axis.offset, axis.offset + 1}};  // of one element, so far
  for (const AxisView::Run& run : axis.runs) {
    const Range& range = dimensions[static_cast<std::size_t>(run.dimension)];
    Ranges inside;
    for (const Range& place : found) {
      if (run.stride == 1 && &run == &axis.runs.back()) {
        inside.push_back({place.begin + range.begin, place.begin + range.end});
        continue;
      }
      for (std::int64_t i = range.begin; i < range.end; ++i)
        inside.push_back({place.begin + i * run.stride, place.begin + i * run.stride + 1});
    }
    found = std::move(inside);
  }
  return joined(std::move(found));
}

Region region(const Slices& slices, const TensorView& view, int device, Phase phase, int step) {
  const std::vector<Range> dimensions = slices.ranges(device, phase, step);
  Region found;
  for (const AxisView& axis : view) found.push_back(ranges_of(axis, dimensions));
  return found;
}

std::vector<Region> regions(const Slices& slices, const TensorView& view, Phase phase, int step) {
  std::vector<Region> found;
  for (int device = 0; device < slices.devices(); ++device) found.push_back(region(slices, view, device, phase, step));
  return found;
}

std::vector<Piece> redistribute(const std::vector<Region>& held, const std::vector<Region>& needed) {
  std::map<Region, std::vector<int>> holders;
  for (std::size_t device = 0; device < held.size(); ++device)
    holders[held[device]].push_back(static_cast<int>(device));
  const Region all = hull(held);
  std::vector<Piece> pieces;
  for (std::size_t to = 0; to < needed.size(); ++to) {
    const auto device = static_cast<int>(to);
    // The least exclusive-or shares most leading bits; no two holders have the same.
    const auto nearer = [device](int a, int b) { return (a ^ device) < (b ^ device); };
    std::int64_t missing = elements_of(overlap(needed[to], all));
    for (const auto& [slice, members] : holders) {
      Region common = overlap(slice, needed[to]);
      const std::int64_t elements = elements_of(common);
      if (elements == 0) continue;
      missing -= elements;
      const int from = *std::min_element(members.begin(), members.end(), nearer);
      if (from != device) pieces.push_back({from, device, std::move(common)});
    }
    if (missing != 0) throw InternalError(fmt::format("device {} needs elements that no device holds once", device));
  }
  return pieces;
}

std::vector<Piece> forward_redistribution(const Shared& shared, const Slices& producer, const Slices& consumer) {
  return redistribute(regions(producer, shared.made, Phase::forward, producer.steps() - 1),
                      regions(consumer, shared.read, Phase::forward, 0));
}

std::vector<Piece> backward_redistribution(const Shared& shared, const Slices& producer, const Slices& consumer) {
  return redistribute(regions(consumer, shared.read, gradient_phase(shared), consumer.steps() - 1),
                      regions(producer, shared.made, Phase::backward, 0));
}

}  // namespace tessera::strategy::primepar
