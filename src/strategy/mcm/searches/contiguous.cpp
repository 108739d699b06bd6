// The best cut of the topological order into segments, one a chip: no edge jumps over a segment, each fits into memory,
// and the longest takes as little time as it can. By dynamic programming over where segments end, for one bound on
// their time after another.
#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

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
        segment_(package, order_) {
    const std::vector<Time> times = solved_times(package);
    std::vector<std::size_t> place(order_.size());
    before_.push_back(0);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      place[order_[i]] = i;
      before_.push_back(before_.back() + times[order_[i]]);
      longest_ = std::max(longest_, times[order_[i]]);
    }
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
    Time most = before_.back();
    if (!cut(most)) return std::nullopt;
    Time least = std::max(longest_, before_.back() / package_.chips());  // or less
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
  /// Fewest segments that take at most this time each, with where each of them begins; false: they are too many.
  bool cut(Time most) {
    const std::size_t nodes = order_.size();
    segments_.assign(nodes + 1, too_many);
    begin_.assign(nodes + 1, 0);
    segments_[0] = 0;
    for (std::size_t begin = 0; begin < nodes; ++begin) {
      if (segments_[begin] >= package_.chips()) continue;
      segment_.begin(begin);
      for (std::size_t end = begin + 1; end <= nodes && before_[end] - before_[begin] <= most; ++end) {
        const bool fits = segment_.after_adding(end - 1) <= memory_;
        if (!fits || end < least_end_[begin] || segments_[begin] + 1 >= segments_[end]) continue;
        segments_[end] = segments_[begin] + 1;
        begin_[end] = begin;
      }
    }
    return segments_[nodes] <= package_.chips();
  }

  [[nodiscard]] Partition partition() const {
    Partition partition(order_.size());
    for (std::size_t end = order_.size(); end > 0; end = begin_[end]) {
      for (std::size_t i = begin_[end]; i < end; ++i) partition[order_[i]] = static_cast<ChipId>(segments_[end] - 1);
    }
    return partition;
  }

  static constexpr std::uint32_t too_many = std::numeric_limits<std::uint32_t>::max();
  const Package& package_;
  std::int64_t memory_;
  std::vector<NodeId> order_;
  SegmentMemory segment_;
  std::vector<Time> before_;            // by place: of all nodes before it
  std::vector<std::size_t> least_end_;  // by where a segment begins: what comes in has been read by then
  Time longest_ = 0;
  std::vector<std::uint32_t> segments_;  // by end: fewest up to there
  std::vector<std::size_t> begin_;       // by end: where the last of them begins
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
