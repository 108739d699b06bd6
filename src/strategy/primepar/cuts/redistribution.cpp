#include "redistribution.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {

namespace {

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

std::vector<Piece> forward_redistribution(const Shared& shared, const Slices& producer, const Slices& consumer) {
  return redistribute(regions(producer, shared.made, Phase::forward, producer.steps() - 1),
                      regions(consumer, shared.read, Phase::forward, 0));
}

std::vector<Piece> backward_redistribution(const Shared& shared, const Slices& producer, const Slices& consumer) {
  return redistribute(regions(consumer, shared.read, gradient_phase(shared), consumer.steps() - 1),
                      regions(producer, shared.made, Phase::backward, 0));
}

}  // namespace tessera::strategy::primepar
