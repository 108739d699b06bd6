// Redistributions by the million: what redistribution.hpp says of one pair of partitions, in numbers that are made once
// for each partition.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "redistribution.hpp"

namespace tessera::strategy::primepar {

/// Different parts of one axis, numbered as they turn up.
class RangesPool {
 public:
  [[nodiscard]] std::uint32_t number_of(const Ranges& ranges);
  [[nodiscard]] const std::vector<Ranges>& all() const { return all_; }

 private:
  std::map<Ranges, std::uint32_t> known_;
  std::vector<Ranges> all_;
};

/// Which part of a shared tensor each device has. At most 64 devices.
struct Layout {
  std::vector<std::vector<std::uint32_t>> parts;  ///< by axis and device: a number of its pool
  /// By receiver: a bit for each device that is the nearest one, for that receiver, to hold what it holds.
  std::vector<std::uint64_t> nearest;
};

/// The tensor of one edge, as its two sides have it under any partition.
class SharedLayouts {
 public:
  explicit SharedLayouts(const Shared& shared)
      : shared_(&shared), made_(shared.made.size()), read_(shared.made.size()) {}

  /// O after forward, and dO before backward; ...
  struct Side {
    Layout forward, backward;
  };
  [[nodiscard]] Side made(const Slices& producer);
  /// ... the operand before forward, and its gradient after the phase that makes it.
  [[nodiscard]] Side read(const Slices& consumer);
  /// Once all sides are known.
  void intersect();

  /// visit(from, to, elements) for what moves, as redistribute() says.
  template <class Visit>
  void forward(const Side& made, const Side& read, Visit&& visit) const {
    moves(
        made.forward, read.forward,
        [&](std::size_t axis, std::uint32_t held, std::uint32_t needed) {
          return common_[axis][held * read_[axis].all().size() + needed];
        },
        visit);
  }
  template <class Visit>
  void backward(const Side& made, const Side& read, Visit&& visit) const {
    moves(
        read.backward, made.backward,
        [&](std::size_t axis, std::uint32_t held, std::uint32_t needed) {
          return common_[axis][needed * read_[axis].all().size() + held];
        },
        visit);
  }

 private:
  template <class Common, class Visit>
  void moves(const Layout& held, const Layout& needed, const Common& common, Visit&& visit) const {
    const std::size_t devices = held.nearest.size();
    for (std::size_t to = 0; to < devices; ++to) {
      for (std::size_t from = 0; from < devices; ++from) {
        if (from == to || (held.nearest[to] >> from & 1U) == 0) continue;
        std::int64_t elements = 1;
        for (std::size_t axis = 0; axis < held.parts.size() && elements > 0; ++axis)
          elements *= common(axis, held.parts[axis][from], needed.parts[axis][to]);
        if (elements > 0) visit(static_cast<int>(from), static_cast<int>(to), elements);
      }
    }
  }
  [[nodiscard]] static Layout layout(std::vector<RangesPool>& pools, const Slices& slices, const TensorView& view,
                                     Phase phase, int step);

  const Shared* shared_;
  std::vector<RangesPool> made_, read_;            // by axis
  std::vector<std::vector<std::int64_t>> common_;  // by axis: elements that a made and a read part share
};

}  // namespace tessera::strategy::primepar
