// Redistributions by the million: what redistribution.hpp says of one pair of partitions, from numbers that are made
// once for each partition.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <vector>

#include "redistribution.hpp"

namespace tessera::strategy::primepar {

/// Devices are bits of a mask: 64 of them at most.
inline constexpr int most_searched_bits = 6;

/// The tensor of one edge, as its two sides have it under any of their partitions.
class SharedLayouts {
 public:
  SharedLayouts(const Shared& shared, const std::vector<const Slices*>& producers,
                const std::vector<const Slices*>& consumers);

  /// visit(from, to, elements) for what moves between producer i and consumer j, as forward_redistribution() says, ...
  template <class Visit>
  void forward(std::size_t producer, std::size_t consumer, Visit&& visit) const {
    moves(
        made_.after_forward[producer], read_.before_forward[consumer],
        [&](std::size_t axis, std::uint32_t held, std::uint32_t needed) { return common(axis, held, needed); }, visit);
  }
  /// ... and backward_redistribution().
  template <class Visit>
  void backward(std::size_t producer, std::size_t consumer, Visit&& visit) const {
    moves(
        read_.after_backward[consumer], made_.before_backward[producer],
        [&](std::size_t axis, std::uint32_t held, std::uint32_t needed) { return common(axis, needed, held); }, visit);
  }

 private:
  /// Different parts of one axis, numbered as they turn up.
  struct Axis {
    std::map<std::vector<Range>, std::uint32_t> known;  ///< by the ranges of the dimensions that run along it
    std::vector<Ranges> parts;
  };
  /// Which part each device has.
  struct Layout {
    std::vector<std::vector<std::uint32_t>> parts;  ///< by axis and device
    /// Of what is held. By receiver: a bit for each device that is the nearest one to hold what it holds.
    std::vector<std::uint64_t> nearest;
    /// Of what is held. By axis and part of the other side: a bit for each device whose part overlaps that one.
    std::vector<std::vector<std::uint64_t>> meets;
  };
  struct Side {
    std::vector<Axis> axes;
    std::vector<Layout> after_forward, before_backward;  ///< of a producer, by partition
    std::vector<Layout> before_forward, after_backward;  ///< of a consumer
  };

  [[nodiscard]] std::int64_t common(std::size_t axis, std::uint32_t made, std::uint32_t read) const {
    return common_[axis][made * read_.axes[axis].parts.size() + read];
  }
  template <class Common, class Visit>
  void moves(const Layout& held, const Layout& needed, const Common& common_part, Visit&& visit) const {
    const std::size_t axes = held.parts.size();
    for (std::size_t to = 0; to < held.nearest.size(); ++to) {
      std::uint64_t senders = held.nearest[to] & ~(std::uint64_t{1} << to);
      for (std::size_t axis = 0; axis < axes; ++axis) senders &= held.meets[axis][needed.parts[axis][to]];
      for (; senders != 0; senders &= senders - 1) {
        const auto from = static_cast<std::size_t>(std::countr_zero(senders));
        std::int64_t elements = 1;
        for (std::size_t axis = 0; axis < axes; ++axis)
          elements *= common_part(axis, held.parts[axis][from], needed.parts[axis][to]);
        visit(static_cast<int>(from), static_cast<int>(to), elements);
      }
    }
  }
  [[nodiscard]] static Layout layout(std::vector<Axis>& axes, const Slices& slices, const TensorView& view, Phase phase,
                                     int step);
  void intersect();
  /// For layouts that something is held in.
  void complete(Layout& held, bool is_made) const;

  Side made_, read_;
  std::vector<std::vector<std::int64_t>> common_;  // by axis: elements that a made and a read part share
};

}  // namespace tessera::strategy::primepar
