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

#include "patterns.hpp"
#include "redistribution.hpp"

namespace tessera::strategy::primepar {

/// How a number of partitions of one operator lay a shared tensor out over the devices, at one moment.
class Layouts {
 public:
  Layouts(const TensorView& view, const std::vector<const Slices*>& partitions, Phase phase, bool at_end);

  struct Axis {
    std::vector<Ranges> parts;                     ///< all that turn up
    std::vector<std::vector<std::uint32_t>> cuts;  ///< the different ones: by device, its part
  };
  [[nodiscard]] const std::vector<Axis>& axes() const { return axes_; }
  [[nodiscard]] std::size_t size() const { return cuts_.size() / axes_.size(); }
  /// How a partition cuts an axis: an index into its `cuts`.
  [[nodiscard]] std::uint32_t cut(std::size_t partition, std::size_t axis) const {
    return cuts_[partition * axes_.size() + axis];
  }
  [[nodiscard]] std::uint32_t part(std::size_t partition, std::size_t axis, std::size_t device) const {
    return axes_[axis].cuts[cut(partition, axis)][device];
  }
  [[nodiscard]] std::size_t devices() const { return devices_; }

 private:
  void add(const Slices& slices, const TensorView& view, Phase phase, int step);
  template <class RangesOf>
  void add_cut(std::size_t axis, const std::vector<std::int64_t>& slices, const RangesOf& ranges_of_device);

  /// By how often each dimension along an axis is cut, and the slice or the slices of all devices.
  struct Known {
    std::map<std::vector<std::int64_t>, std::uint32_t> parts, cuts;
  };
  std::size_t devices_ = 0;
  std::vector<Axis> axes_;
  std::vector<Known> known_;         // by axis
  std::vector<std::uint32_t> cuts_;  // by partition and axis
};

/// What moves from each of some layouts to each of others.
class Redistributions {
 public:
  /// `patterns` outlives it.
  Redistributions(Layouts held, Layouts needed, Patterns& patterns);

  /// Layouts of one number lay as many elements on each device; below needed_sizes().
  [[nodiscard]] std::uint32_t needed_size(std::size_t needed) const { return size_of_[needed]; }
  [[nodiscard]] std::size_t needed_sizes() const { return sizes_; }

  /// visit(needed, number) for all layouts, from one that is held: of the pattern of messages, among those of this
  /// edge. Pairs of one pattern whose needed layouts are of one size have the same messages: of what a device needs
  /// each sender has the pattern's share.
  template <class Visit>
  void visit_patterns(std::size_t held, Visit&& visit);
  /// In `patterns`.
  [[nodiscard]] std::uint32_t pattern(std::uint32_t number) const { return found_.all[number]; }

  /// What the elements of all messages of a pair are multiples of: of each message, where all have as many.
  [[nodiscard]] std::int64_t unit(std::size_t held, std::size_t needed) const;
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
  /// Two cuts of one axis.
  struct Pair {
    std::uint32_t pattern = 0;
    std::int64_t elements = 1;  ///< of each message; 1 where they differ
  };
  struct Axis {
    std::vector<std::int64_t> common;  ///< elements, by held and needed part
    std::vector<Pair> pairs;           ///< by held and needed cut
  };
  /// Few of all patterns, in numbers of their own.
  struct Few {
    std::vector<std::uint32_t> all;
    std::unordered_map<std::uint32_t, std::uint32_t> numbers;
    std::uint32_t number(std::uint32_t pattern);
  };
  /// Layouts that cut all axes alike but the varied one.
  struct Member {
    std::uint32_t layout = 0, cut = 0;  // of that axis
  };
  using Groups = std::vector<std::vector<Member>>;

  [[nodiscard]] std::int64_t common(std::size_t axis, std::uint32_t held, std::uint32_t needed) const {
    return axes_[axis].common[held * needed_.axes()[axis].parts.size() + needed];
  }
  [[nodiscard]] std::vector<std::uint64_t> nearest_holders(std::size_t held) const;
  void intersect(std::size_t axis);
  [[nodiscard]] Pair match(std::size_t axis, const std::vector<std::uint32_t>& held,
                           const std::vector<std::uint32_t>& needed);
  [[nodiscard]] const Pair& along(std::size_t axis, std::size_t held, std::size_t needed) const {
    return axes_[axis].pairs[held_.cut(held, axis) * needed_.axes()[axis].cuts.size() + needed_.cut(needed, axis)];
  }
  void measure_needed();
  [[nodiscard]] Groups groups_of(const Layouts& layouts) const;
  void share();
  [[nodiscard]] std::uint32_t row(std::uint32_t nearest, std::uint32_t shared);

  Layouts held_, needed_;
  Patterns* patterns_;
  std::vector<Axis> axes_;
  std::vector<std::uint32_t> size_of_;  // by needed layout
  std::size_t sizes_ = 0;
  // That with the most pairs of cuts. A pair's pattern is what is in three: who is the nearest to hold what is held, a
  // choice that few layouts have to themselves; that of all other axes, by the groups of both; that of the varied one.
  std::size_t varied_axis_ = 0;
  Groups groups_;                                     // of needed layouts
  std::vector<std::uint32_t> nearest_of_, group_of_;  // by held layout
  std::vector<std::uint32_t> shared_of_;              // by held and needed group
  std::vector<std::uint32_t> column_of_;              // by held and needed cut
  Few nearest_, shared_, columns_, rows_, found_;
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};
  std::vector<std::uint32_t> row_of_;  // by nearest_ and shared_, as far as asked for
  std::vector<std::uint32_t> both_;    // by rows_ and columns_, as far as asked for
};

template <class Visit>
void Redistributions::visit_patterns(std::size_t held, Visit&& visit) {
  const std::uint32_t* columns = &column_of_[held_.cut(held, varied_axis_) * needed_.axes()[varied_axis_].cuts.size()];
  const std::uint32_t* shared = &shared_of_[group_of_[held] * groups_.size()];
  for (const std::vector<Member>& group : groups_) {
    const std::uint32_t one = row(nearest_of_[held], *shared++);
    std::uint32_t* both = &both_[one * columns_.all.size()];
    for (const Member& member : group) {
      const std::uint32_t column = columns[member.cut];
      if (both[column] == unknown) both[column] = found_.number(patterns_->both(rows_.all[one], columns_.all[column]));
      visit(member.layout, both[column]);
    }
  }
}

/// Both directions of one edge: forward from producer to consumer, as forward_redistribution() says, and backward from
/// consumer to producer.
[[nodiscard]] Redistributions forward_redistributions(const Shared& shared, const std::vector<const Slices*>& producers,
                                                      const std::vector<const Slices*>& consumers, Patterns& patterns);
[[nodiscard]] Redistributions backward_redistributions(const Shared& shared,
                                                       const std::vector<const Slices*>& producers,
                                                       const std::vector<const Slices*>& consumers, Patterns& patterns);

}  // namespace tessera::strategy::primepar
