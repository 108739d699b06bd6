// The best cut of the topological order into segments, one a chip: no edge jumps over a segment, each fits into memory,
// and the longest takes as little time as it can. By dynamic programming over where segments end, for one bound on
// their time after another. On chips of different speeds it matters which chip a segment is on, so what is known is by
// chip: fewer chips up to a node may be worse, when the next one is slow.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "../analytic.hpp"
#include "searches.hpp"
#include "segment_memory.hpp"

namespace tessera::strategy::mcm {
namespace {

class Cuts {
 public:
  Cuts(const Package& package, std::int64_t memory)
      : package_(package),
        memory_(memory),
        order_(topological_order(package.reduced.problem)),
        segment_(package, order_),
        is_even_(has_equal_speeds(package)) {
    std::vector<std::size_t> place(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) place[order_[i]] = i;
    least_end_.assign(order_.size() + 1, 0);
    for (const Edge& edge : package.reduced.problem.edges) {
      std::size_t& end = least_end_[place[edge.from] + 1];
      end = std::max(end, place[edge.to] + 1);
    }
    std::partial_sum(least_end_.begin(), least_end_.end(), least_end_.begin(),
                     [](std::size_t a, std::size_t b) { return std::max(a, b); });
  }

  /// None where segments cannot be so few, or so small.
  std::optional<Partition> best() {
    const Time longest = most_on_one_chip();
    Time least = std::min(least_interval(package_), longest);
    Time most = least;
    while (!cut(most)) {
      if (most == longest) return std::nullopt;
      least = most + 1;
      most = least + std::min(least, longest - least);
    }
    while (least < most) {
      const Time middle = least + (most - least) / 2;
      if (cut(middle)) {
        most = middle;
      } else {
        least = middle + 1;
      }
    }
    static_cast<void>(cut(most));
    return partition();
  }

 private:
  /// Of all nodes on the slowest chip.
  [[nodiscard]] Time most_on_one_chip() const {
    const auto slowest = std::ranges::min_element(package_.speeds) - package_.speeds.begin();
    Time sum = 0;
    for (const NodeId node : order_) sum += time_on(package_, node, static_cast<ChipId>(slowest));
    return sum;
  }

  /// Segments on the fewest chips that take at most this time each; false: there are none.
  bool cut(Time most) {
    begin_.assign((package_.chips() + std::size_t{1}) * (order_.size() + 1), no_place);
    reached_.assign(order_.size() + 1, false);
    begin_of(0, 0) = 0;
    for (used_ = 0; used_ < package_.chips();) {
      for (std::size_t begin = 0; begin < order_.size(); ++begin) {
        if (begin_of(used_, begin) != no_place) grow(begin, most);
      }
      ++used_;
      if (begin_of(used_, order_.size()) != no_place) return true;
    }
    return false;
  }

  /// All segments from there on that the next chip can have.
  void grow(std::size_t begin, Time most) {
    segment_.begin(begin);
    Time time = 0;
    for (std::size_t end = begin + 1; end <= order_.size(); ++end) {
      time += time_on(package_, order_[end - 1], static_cast<ChipId>(used_));
      if (time > most) return;
      const bool fits = segment_.after_adding(end - 1) <= memory_;
      // Of equal chips fewer are never worse.
      if (!fits || end < least_end_[begin] || (is_even_ && reached_[end])) continue;
      reached_[end] = true;
      if (std::size_t& known = begin_of(used_ + 1, end); known == no_place) known = begin;
    }
  }

  /// Where the last of so many segments begins that end there.
  std::size_t& begin_of(std::uint32_t segments, std::size_t end) {
    return begin_[segments * (order_.size() + 1) + end];
  }

  [[nodiscard]] Partition partition() {
    Partition partition(order_.size());
    std::uint32_t segments = used_;
    for (std::size_t end = order_.size(); end > 0; --segments) {
      const std::size_t begin = begin_of(segments, end);
      for (std::size_t i = begin; i < end; ++i) partition[order_[i]] = static_cast<ChipId>(segments - 1);
      end = begin;
    }
    return partition;
  }

  static constexpr std::size_t no_place = std::numeric_limits<std::size_t>::max();
  const Package& package_;
  std::int64_t memory_;
  std::vector<NodeId> order_;
  SegmentMemory segment_;
  bool is_even_;                        // all chips are as fast
  std::vector<std::size_t> least_end_;  // by where a segment begins: what comes in has been read by then
  std::vector<std::size_t> begin_;      // by segments and end
  std::vector<bool> reached_;           // by end, with whatever segments
  std::uint32_t used_ = 0;              // chips
};

}  // namespace

Found search_contiguous(const Question& question) {
  const auto cut = [&](std::int64_t limit) {
    if (auto partition = Cuts(question.package, limit).best()) return *partition;
    // Nothing fits: the best cut if memory were no matter, for the judge to refuse.
    auto without = Cuts(question.package, std::numeric_limits<std::int64_t>::max()).best();
    return without ? *without : equal_nodes(question);
  };
  return judged(question, "contiguous", within_memory(question, memory_limit(question), cut));
}

}  // namespace tessera::strategy::mcm
