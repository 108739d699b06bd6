// What has to move between two operators whose tensor is the same, or the same up to element-wise operations, but whose
// partitions hold it in different slices (PrimePar, ASPLOS 2024, slides: inter-operator communication).
#pragma once

#include <cstdint>
#include <vector>

#include "slices.hpp"

namespace tessera::strategy::primepar {

/// Part of a tensor that a device has not, from one that has it.
struct Piece {
  int from = 0, to = 0;
  Box box;  ///< inside the sender's slice and the receiver's
  [[nodiscard]] std::int64_t elements() const { return elements_of(box); }
};

/// The slice of every device.
[[nodiscard]] std::vector<Box> boxes(const Slices& slices, Tensor tensor, Phase phase, int step);

/// Brings every device from what it holds to what it needs: for every slice that is held and overlaps what a device
/// needs, one piece, unless the device holds that slice itself. Of several holders the one that shares most leading
/// bits of the id with the receiver sends, then the one whose id differs by least: inside the node where it can, and
/// spread over the holders. By receiver, then by place in the tensor. Throws InternalError if something needed is held
/// by no device.
[[nodiscard]] std::vector<Piece> redistribute(const std::vector<Box>& held, const std::vector<Box>& needed);

/// From the producer's O after its forward (and all-reduce) to the consumer's I before its first step, ...
[[nodiscard]] std::vector<Piece> forward_redistribution(const Slices& producer, const Slices& consumer);
/// ... and from the consumer's dI after its backward (and all-reduce) to the producer's dO.
/// Both throw InputError unless O and I have the same extents, and the partitions the same devices.
[[nodiscard]] std::vector<Piece> backward_redistribution(const Slices& producer, const Slices& consumer);

}  // namespace tessera::strategy::primepar
