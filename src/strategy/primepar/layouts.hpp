// Redistributions by the million: what redistribution.hpp says of one pair of partitions, from numbers that are made
// once for each partition.
//
// Along each axis of the shared tensor a device has one part, and what moves follows from how parts overlap axis by
// axis. Few ways of cutting an axis are different (a partition's other primitives do not touch it), so that how they
// overlap is worked out once for each two, and a pair of partitions is little more than the numbers of its axes' pairs.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "redistribution.hpp"

namespace tessera::strategy::primepar {

/// Devices are bits of a mask: 64 of them at most.
inline constexpr int most_searched_bits = 6;

/// How a number of partitions of one operator lay a shared tensor out over the devices, at one moment.
class Layouts {
 public:
  Layouts(const TensorView& view, const std::vector<const Slices*>& partitions, Phase phase, bool at_end);

  struct Axis {
    std::vector<Ranges> parts;                     ///< all that turn up
    std::vector<std::vector<std::uint32_t>> cuts;  ///< the different ones: by device, its part
  };
  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
  [[nodiscard]] std::size_t size() const { return cuts_.size(); }
  /// How a partition cuts an axis: an index into its `cuts`.
  [[nodiscard]] std::uint32_t cut(std::size_t partition, std::size_t axis) const { return cuts_[partition][axis]; }
  [[nodiscard]] std::uint32_t part(std::size_t partition, std::size_t axis, std::size_t device) const {
    return axes_[axis].cuts[cut(partition, axis)][device];
  }
  [[nodiscard]] std::size_t devices() const { return devices_; }

 private:
  void add(const Slices& slices, const TensorView& view, Phase phase, int step);

  using Slice = std::vector<std::int64_t>;  // of the dimensions along an axis: index, count of slices
  struct Known {
    std::map<Slice, std::uint32_t> parts;
    std::map<std::vector<Slice>, std::uint32_t> cuts;
  };
  std::size_t devices_ = 0;
  std::vector<Axis> axes_;
  std::vector<Known> known_;  // by axis
  std::vector<std::vector<std::uint32_t>> cuts_;
};

/// By receiver, the devices that send to it: itself among them where it has what it needs.
using Senders = std::vector<std::uint64_t>;

/// Different ones by number.
class SenderSets {
 public:
  [[nodiscard]] std::uint32_t number(const Senders& senders);
  [[nodiscard]] const Senders& of(std::uint32_t number) const { return senders_[number]; }
  [[nodiscard]] std::size_t size() const { return senders_.size(); }
  /// Those that are in both.
  [[nodiscard]] std::uint32_t both(std::uint32_t one, std::uint32_t other) {
    if (one < both_.size() && other < both_[one].size() && both_[one][other] != unknown) return both_[one][other];
    return intersect(one, other);
  }

 private:
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};
  [[nodiscard]] std::uint32_t intersect(std::uint32_t one, std::uint32_t other);

  struct Hash {
    std::size_t operator()(const Senders& senders) const;
  };
  std::vector<Senders> senders_;
  std::unordered_map<Senders, std::uint32_t, Hash> numbers_;
  std::vector<std::vector<std::uint32_t>> both_;  // by both numbers, as far as asked for
};

/// What moves from each of some layouts to each of others.
class Redistributions {
 public:
  Redistributions(Layouts held, Layouts needed);

  [[nodiscard]] std::size_t needed_layouts() const { return needed_.size(); }

  /// The messages of one pair: who sends, and how many elements each message has; 0 where they differ.
  struct Messages {
    std::uint32_t senders = 0;
    std::int64_t elements = 1;
  };
  /// visit(needed, messages) for all layouts, from one that is held.
  template <class Visit>
  void visit_messages(std::size_t held, Visit&& visit);
  [[nodiscard]] const Senders& senders(std::uint32_t number) const { return sets_.of(number); }

  /// visit(from, to, elements) for every message of a pair.
  template <class Visit>
  void visit(const Senders& senders, std::size_t held, std::size_t needed, Visit&& visit) const {
    for (std::size_t to = 0; to < senders.size(); ++to) {
      for (std::uint64_t left = senders[to] & ~(std::uint64_t{1} << to); left != 0; left &= left - 1) {
        const auto from = static_cast<std::size_t>(std::countr_zero(left));
        std::int64_t elements = 1;
        for (std::size_t axis = 0; axis < axes_.size(); ++axis)
          elements *= common(axis, held_.part(held, axis, from), needed_.part(needed, axis, to));
        visit(static_cast<int>(from), static_cast<int>(to), elements);
      }
    }
  }

 private:
  struct Axis {
    std::vector<std::int64_t> common;  ///< elements, by held and needed part
    std::vector<Messages> pairs;       ///< by held and needed cut, of this axis alone
  };
  [[nodiscard]] std::int64_t common(std::size_t axis, std::uint32_t held, std::uint32_t needed) const {
    return axes_[axis].common[held * needed_.axes()[axis].parts.size() + needed];
  }
  [[nodiscard]] Senders nearest_holders(std::size_t held) const;
  void intersect(std::size_t axis);
  [[nodiscard]] Messages match(std::size_t axis, const std::vector<std::uint32_t>& held,
                               const std::vector<std::uint32_t>& needed);
  [[nodiscard]] const Messages& along(std::size_t axis, std::size_t held, std::uint32_t needed_cut) const {
    return axes_[axis].pairs[held_.cut(held, axis) * needed_.axes()[axis].cuts.size() + needed_cut];
  }
  void group_needed();

  Layouts held_, needed_;
  std::vector<Axis> axes_;
  std::vector<std::uint32_t> nearest_of_;  // by held layout: those who are the nearest to hold what they hold
  SenderSets sets_;
  // Needed layouts that cut all axes alike but one, that with the most pairs of cuts.
  struct Member {
    std::uint32_t layout = 0, cut = 0;  // of that axis
  };
  std::size_t varied_axis_ = 0;
  std::vector<std::vector<Member>> groups_;
};

template <class Visit>
void Redistributions::visit_messages(std::size_t held, Visit&& visit) {
  const auto also = [&](const Messages& before, const Messages& next) {
    return Messages{sets_.both(before.senders, next.senders), before.elements * next.elements};
  };
  const Messages* varied = &along(varied_axis_, held, 0);
  for (const std::vector<Member>& group : groups_) {
    Messages shared{nearest_of_[held], 1};
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      if (axis != varied_axis_) shared = also(shared, along(axis, held, needed_.cut(group.front().layout, axis)));
    }
    for (const Member& member : group) visit(member.layout, also(shared, varied[member.cut]));
  }
}

/// Both directions of one edge: forward from producer to consumer, as forward_redistribution() says, and backward from
/// consumer to producer.
[[nodiscard]] Redistributions forward_redistributions(const Shared& shared, const std::vector<const Slices*>& producers,
                                                      const std::vector<const Slices*>& consumers);
[[nodiscard]] Redistributions backward_redistributions(const Shared& shared,
                                                       const std::vector<const Slices*>& producers,
                                                       const std::vector<const Slices*>& consumers);

}  // namespace tessera::strategy::primepar
