// Synthesised: an all-gather made for the links of a group as they are. Source: Won et al., "TACOS: Topology-aware
// collective algorithm synthesizer for distributed machine learning", MICRO 2024: time goes on from one end of a hop to
// the next, and at each such moment links that are free are matched with pieces that their begin has and their end
// lacks. Where TACOS draws links and pieces at random, the rarest piece goes first here, and what is equal is drawn by
// the number of the attempt alone: a group has one schedule. A reduce-scatter is the same backwards in time.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <queue>

#include "algorithms.hpp"
#include "link_schedule.hpp"
#include "tessera/base/random.hpp"

namespace tessera::program {
namespace {

/// How long the fastest link of a group takes for a piece; slower ones take longer by their bandwidths.
constexpr std::int64_t fastest_hop = 1 << 20;
constexpr std::uint64_t most_attempts = 16;
/// Hops of all attempts together, which bounds the time that they take: 16 members have all of them.
constexpr std::uint64_t most_hops = 20'000;

struct TimedLink {
  std::uint32_t from = 0, to = 0;
  std::int64_t duration = 0;
  /// How many pieces faster links bring to its end while it carries one, where there is a faster way from its begin as
  /// well; 0 where there is none.
  double outrun = 0;
};

/// Shortest times from a member to all others.
std::vector<std::int64_t> distances(const std::vector<std::vector<TimedLink>>& from, std::uint32_t begin) {
  std::vector<std::int64_t> found(from.size(), std::numeric_limits<std::int64_t>::max());
  using Reached = std::pair<std::int64_t, std::uint32_t>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> open;
  open.push({found[begin] = 0, begin});
  while (!open.empty()) {
    const auto [time, rank] = open.top();
    open.pop();
    if (time > found[rank]) continue;
    for (const TimedLink& link : from[rank])
      if (time + link.duration < found[link.to]) open.push({found[link.to] = time + link.duration, link.to});
  }
  return found;
}

std::vector<TimedLink> timed(const OwnLinks& links) {
  std::int64_t fastest = 0;
  for (const auto& own : links)
    for (const OwnLink& link : own) fastest = std::max(fastest, link.bandwidth.value());
  std::vector<std::vector<TimedLink>> by_begin(links.size());
  std::vector<TimedLink> all;
  for (std::uint32_t from = 0; from < links.size(); ++from) {
    for (const OwnLink& link : links[from]) {
      const double times = static_cast<double>(fastest) / static_cast<double>(link.bandwidth.value());
      by_begin[from].push_back({from, link.to, std::llround(times * static_cast<double>(fastest_hop)), 0});
    }
    all.insert(all.end(), by_begin[from].begin(), by_begin[from].end());
  }
  for (std::uint32_t from = 0; from < links.size(); ++from) {
    const std::vector<std::int64_t> shortest = distances(by_begin, from);
    for (TimedLink& link : all) {
      if (link.from != from || shortest[link.to] == link.duration) continue;
      for (const TimedLink& other : all)
        if (other.to == link.to && other.duration < link.duration)
          link.outrun += static_cast<double>(link.duration) / static_cast<double>(other.duration);
    }
  }
  return all;
}

/// So many parts a chunk that the pieces of all others come evenly over the links of whoever has the fewest.
std::uint32_t parts_for(const OwnLinks& links) {
  constexpr std::uint32_t most_parts = 4;
  std::vector<std::uint32_t> coming(links.size(), 0);
  for (const auto& own : links)
    for (const OwnLink& link : own) ++coming[link.to];
  const std::uint32_t fewest = std::ranges::min(coming), others = static_cast<std::uint32_t>(links.size()) - 1;
  return std::min(most_parts, fewest / std::gcd(fewest, others));
}

/// One attempt.
class Matching {
 public:
  Matching(const std::vector<TimedLink>& links, std::uint32_t members, std::uint32_t parts, std::uint64_t attempt)
      : links_(links),
        members_(members),
        pieces_(members * parts),
        has_(std::size_t{members} * pieces_, 0),
        sent_to_(has_),
        holders_(pieces_, 1),
        lacking_(members, pieces_ - parts),
        free_(links.size(), 1),
        weights_(pieces_),
        order_(links.size()) {
    const KeyedRandom random(attempt, random_stream("synthesised collectives"));
    for (std::uint32_t piece = 0; piece < pieces_; ++piece) {
      has_[at(piece / parts, piece)] = sent_to_[at(piece / parts, piece)] = 1;
      weights_[piece] = random.bits(piece) >> 1U;
    }
    std::iota(order_.begin(), order_.end(), 0U);
    for (std::size_t left = order_.size(); left > 1; --left)
      std::swap(order_[left - 1], order_[random.below(pieces_ + left, left)]);
  }

  /// Nothing where it is not over before `limit`.
  std::vector<Hop> run(std::int64_t limit) {
    match(0);
    while (!ends_.empty()) {
      const std::int64_t now = ends_.top().first;
      if (now >= limit) return {};
      for (; !ends_.empty() && ends_.top().first == now; ends_.pop()) {
        const Hop& hop = hops_[ends_.top().second];
        has_[at(hop.to, hop.piece)] = 1;
        free_[link_of_[ends_.top().second]] = 1;
      }
      match(now);
    }
    return std::move(hops_);
  }

 private:
  [[nodiscard]] std::size_t at(std::uint32_t member, std::uint32_t piece) const {
    return std::size_t{member} * pieces_ + piece;
  }

  void match(std::int64_t now) {
    for (const std::uint32_t number : order_) {
      const TimedLink& link = links_[number];
      if (free_[number] == 0 || lacking_[link.to] == 0 || link.outrun >= lacking_[link.to]) continue;
      const std::uint32_t piece = rarest(link);
      if (piece == pieces_) continue;
      free_[number] = 0;
      sent_to_[at(link.to, piece)] = 1;
      ++holders_[piece];
      --lacking_[link.to];
      ends_.push({now + link.duration, static_cast<std::uint32_t>(hops_.size())});
      link_of_.push_back(number);
      hops_.push_back({link.from, link.to, piece, now, now + link.duration});
    }
  }

  /// Of the pieces that a link can carry; their number where there is none.
  [[nodiscard]] std::uint32_t rarest(const TimedLink& link) const {
    std::uint32_t found = pieces_;
    const char* has = &has_[at(link.from, 0)];
    const char* sent = &sent_to_[at(link.to, 0)];
    for (std::uint32_t piece = 0; piece < pieces_; ++piece) {
      if (has[piece] == 0 || sent[piece] != 0) continue;
      if (found == pieces_ || std::pair(holders_[piece], weights_[piece]) < std::pair(holders_[found], weights_[found]))
        found = piece;
    }
    return found;
  }

  const std::vector<TimedLink>& links_;
  std::uint32_t members_, pieces_;
  std::vector<char> has_, sent_to_;     // by member and piece: there, and there or on the way
  std::vector<std::uint32_t> holders_;  // members that have it or will, by piece
  std::vector<std::uint32_t> lacking_;  // pieces that nobody has sent to it yet, by member
  std::vector<char> free_;              // by link
  std::vector<std::uint64_t> weights_;  // by piece
  std::vector<std::uint32_t> order_;    // links, as they choose
  std::vector<Hop> hops_;
  std::vector<std::uint32_t> link_of_;  // by hop
  using End = std::pair<std::int64_t, std::uint32_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;  // times and hops
};

std::int64_t end_of(const std::vector<Hop>& hops) {
  return hops.empty() ? std::numeric_limits<std::int64_t>::max() : std::ranges::max(hops, {}, &Hop::end).end;
}

/// No schedule ends earlier: every member's links bring it all pieces of the others.
std::int64_t least_end(const std::vector<TimedLink>& links, std::uint32_t members, std::uint32_t parts) {
  std::int64_t latest = 0;
  for (std::uint32_t member = 0; member < members; ++member) {
    std::int64_t before = 0, end = std::int64_t{members} * parts * fastest_hop * (1 << 20);
    const auto brought = [&](std::int64_t time) {
      std::int64_t pieces = 0;
      for (const TimedLink& link : links)
        if (link.to == member) pieces += time / link.duration;
      return pieces;
    };
    while (end - before > 1) {
      const std::int64_t middle = before + (end - before) / 2;
      (brought(middle) >= std::int64_t{members - 1} * parts ? end : before) = middle;
    }
    latest = std::max(latest, end);
  }
  return latest;
}

class Synthesised final : public LinkAlgorithm {
 public:
  std::string name() const override { return "synthesised"; }
  std::string help() const override {
    return "made for the links between the members as they are, dead and slow ones too: at every moment each free link "
           "takes the rarest chunk that its end lacks";
  }

 private:
  /// The shortest of several attempts.
  Hops hops(const OwnLinks& own) const override {
    const std::vector<TimedLink> links = timed(own);
    const auto members = static_cast<std::uint32_t>(own.size());
    const std::uint32_t parts = parts_for(own);
    const std::int64_t least = least_end(links, members, parts);
    const std::uint64_t hops_each = std::uint64_t{members} * (members - 1) * parts;
    const std::uint64_t attempts = std::clamp<std::uint64_t>(most_hops / hops_each, 1, most_attempts);
    std::vector<Hop> best;
    for (std::uint64_t attempt = 0; attempt < attempts && end_of(best) > least; ++attempt) {
      std::vector<Hop> found = Matching(links, members, parts, attempt).run(end_of(best));
      if (!found.empty()) best = std::move(found);
    }
    return {parts, std::move(best)};
  }
};

}  // namespace

AlgorithmPointer make_synthesised() { return std::make_shared<Synthesised>(); }

}  // namespace tessera::program
