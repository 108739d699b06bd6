// What has to move between two operators that share a tensor, or parts of one, but hold it in different slices
// (PrimePar, ASPLOS 2024, slides: inter-operator communication).
#pragma once

#include <cstdint>
#include <vector>

#include "slices.hpp"

namespace tessera::strategy::primepar {

/// Where an operator's elements lie along an axis of a shared tensor: at offset + the sum of coordinate x stride. Runs
/// are outermost first, and an inner one never reaches the stride of an outer one.
struct AxisView {
  struct Run {
    int dimension = 0;  ///< of the operator
    std::int64_t stride = 1;
  };
  std::int64_t offset = 0;
  std::vector<Run> runs;
};
/// A tensor as one operator has it. Both have the same axes.
using TensorView = std::vector<AxisView>;
/// What two operators share: `made` is O of the producer, `read` an operand of the consumer.
struct Shared {
  TensorView made, read;
  Tensor operand = Tensor::input;  ///< of the consumer, or Tensor::weight (keys and values)
};

/// O of the producer as it is, dimension by dimension. Throws InternalError unless the extents are the same.
[[nodiscard]] Shared plain(const Operator& producer, const Operator& consumer, Tensor operand = Tensor::input);

/// In which the consumer makes the operand's gradient.
[[nodiscard]] Phase gradient_phase(const Shared& shared);

/// Ranges in order, with gaps between them.
using Ranges = std::vector<Range>;
[[nodiscard]] Ranges overlap(const Ranges& a, const Ranges& b);
[[nodiscard]] std::int64_t length_of(const Ranges& ranges);
/// Of an axis, what these ranges of the operator's dimensions are.
[[nodiscard]] Ranges ranges_of(const AxisView& axis, const std::vector<Range>& dimensions);
/// Part of a tensor: what it has of each axis. Some axis has nothing: it is empty.
using Region = std::vector<Ranges>;
[[nodiscard]] std::int64_t elements_of(const Region& region);
[[nodiscard]] Region region(const Slices& slices, const TensorView& view, int device, Phase phase, int step);
/// Of all devices.
[[nodiscard]] std::vector<Region> regions(const Slices& slices, const TensorView& view, Phase phase, int step);

/// Part of a tensor that a device has not, from one that has it.
struct Piece {
  int from = 0, to = 0;
  Region region;  ///< inside of what the sender has and the receiver needs
  [[nodiscard]] std::int64_t elements() const { return elements_of(region); }
};

/// Brings every device from what it holds to what it needs of all that any device holds: for every slice that is held
/// and overlaps what a device needs, one piece, unless the device holds that slice itself. Of several holders the one
/// that shares most leading bits of the id with the receiver sends, then the one whose id differs by least: inside the
/// node where it can, and spread over the holders. By receiver, then by place in the tensor. Throws InternalError if
/// some of it is held by no device, or in slices that overlap.
[[nodiscard]] std::vector<Piece> redistribute(const std::vector<Region>& held, const std::vector<Region>& needed);

/// From the producer's O after its forward (and all-reduce) to the consumer's operand before its first step, ...
[[nodiscard]] std::vector<Piece> forward_redistribution(const Shared& shared, const Slices& producer,
                                                        const Slices& consumer);
/// ... and from that operand's gradient after the phase that makes it (and all-reduce) to the producer's dO.
[[nodiscard]] std::vector<Piece> backward_redistribution(const Shared& shared, const Slices& producer,
                                                         const Slices& consumer);

}  // namespace tessera::strategy::primepar
