// What has to move between two operators that share a tensor, or parts of one, but hold it in different slices
// (PrimePar, ASPLOS 2024, slides: inter-operator communication).
#pragma once

#include <cstdint>
#include <vector>

#include "slices.hpp"

namespace tessera::strategy::primepar {

using program::Piece;
using program::Ranges;
using Region = program::TensorPart;

/// Where an operator's elements lie along an axis of a shared tensor: at offset + the sum of coordinate x stride. Runs
/// are outermost first, and an inner one never reaches the stride of an outer one.
struct AxisView {
  struct Run {
    int dimension = 0;  ///< of the operator
    std::int64_t stride = 1;
    bool operator==(const Run&) const = default;
  };
  std::int64_t offset = 0;
  std::vector<Run> runs;
  bool operator==(const AxisView&) const = default;
};
/// A tensor as one operator has it. Both have the same axes.
using TensorView = std::vector<AxisView>;
/// What two operators share: `made` is O of the producer, `read` an operand of the consumer.
struct Shared {
  TensorView made, read;
  Tensor operand = Tensor::input;  ///< of the consumer, or Tensor::weight (keys and values)
  bool operator==(const Shared&) const = default;
};

/// O of the producer as it is, dimension by dimension. Throws InternalError unless the extents are the same.
[[nodiscard]] Shared plain(const Operator& producer, const Operator& consumer, Tensor operand = Tensor::input);

/// In which the consumer makes the operand's gradient.
[[nodiscard]] Phase gradient_phase(const Shared& shared);

/// Of an axis, what these ranges of the operator's dimensions are.
[[nodiscard]] Ranges ranges_of(const AxisView& axis, const std::vector<Range>& dimensions);
[[nodiscard]] Region region(const Slices& slices, const TensorView& view, int device, Phase phase, int step);
/// Of all devices.
[[nodiscard]] std::vector<Region> regions(const Slices& slices, const TensorView& view, Phase phase, int step);

/// From the producer's O after its forward (and all-reduce) to the consumer's operand before its first step, ...
[[nodiscard]] std::vector<Piece> forward_redistribution(const Shared& shared, const Slices& producer,
                                                        const Slices& consumer);
/// ... and from that operand's gradient after the phase that makes it (and all-reduce) to the producer's dO.
[[nodiscard]] std::vector<Piece> backward_redistribution(const Shared& shared, const Slices& producer,
                                                         const Slices& consumer);

}  // namespace tessera::strategy::primepar
