// Slices of tensors, and what has to move between devices that hold a tensor in some slices and need it in others.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

namespace tessera::program {

/// Elements begin .. end-1 of a dimension.
struct Range {
  std::int64_t begin = 0, end = 0;
  [[nodiscard]] std::int64_t size() const { return end - begin; }
  auto operator<=>(const Range&) const = default;
};
/// Part of a tensor: a range of each of its dimensions, in the tensor's order.
using Box = std::vector<Range>;
[[nodiscard]] std::int64_t elements_of(const Box& box);

/// Ranges in order, with gaps between them.
using Ranges = std::vector<Range>;
/// Sorted, those that touch as one, empty ones left out.
[[nodiscard]] Ranges joined(Ranges ranges);
[[nodiscard]] Ranges overlap(const Ranges& a, const Ranges& b);
[[nodiscard]] std::int64_t length_of(const Ranges& ranges);

/// Part of a tensor: what it has of each axis. Some axis has nothing: it is empty.
using TensorPart = std::vector<Ranges>;
[[nodiscard]] TensorPart overlap(const TensorPart& a, const TensorPart& b);
[[nodiscard]] std::int64_t elements_of(const TensorPart& region);

/// Part of a tensor that a device has not, from one that has it.
struct Piece {
  int from = 0, to = 0;
  TensorPart region;  ///< inside of what the sender has and the receiver needs
  [[nodiscard]] std::int64_t elements() const { return elements_of(region); }
};

/// Brings every device from what it holds to what it needs of all that any device holds: for every slice that is held
/// and overlaps what a device needs, one piece, unless the device holds that slice itself. Of several holders the one
/// that shares most leading bits of the id with the receiver sends, then the one whose id differs by least: inside the
/// node where it can, and spread over the holders. By receiver, then by place in the tensor. Throws InternalError if
/// some of it is held by no device, or in slices that overlap.
[[nodiscard]] std::vector<Piece> redistribute(const std::vector<TensorPart>& held,
                                              const std::vector<TensorPart>& needed);

}  // namespace tessera::program
