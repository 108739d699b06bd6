#include "sim/laws/rings/alike_seats.hpp"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <numeric>
#include <unordered_map>
#include <utility>

namespace tessera::sim {
namespace {

/// Rounds in which seats with several slots are told apart; each takes as long as a step.
constexpr int most_rounds = 64;

class Partition {
 public:
  Partition(const RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries)
      : parts_(parts), work_(work), entries_(entries), seats_(parts.shape.seats()), part_of_(seats_) {}

  AlikeSeats find() {
    begin();
    const bool is_found = parts_.shape.slots == 1 ? refine_by_leaps() : refine_by_steps();
    return is_found ? taken() : everyone();
  }

 private:
  [[nodiscard]] bool is_worth_it() const { return 2 * std::size_t{count_} <= seats_; }
  [[nodiscard]] Time entry(std::uint32_t seat) const { return entries_[parts_.shape.rank(seat)].at.time; }
  [[nodiscard]] const Time* additions(std::uint32_t seat) const {
    return work_.additions.data() + work_.addition_of(seat, 0, 0);
  }
  [[nodiscard]] std::size_t additions_each() const { return work_.additions.size() / seats_; }

  /// Equal for seats that are alike by themselves.
  [[nodiscard]] std::size_t hash(std::uint32_t seat) const {
    std::size_t seed = 0;
    boost::hash_combine(seed, entry(seat));
    for (std::uint32_t way = seat; way < parts_.shape.ways(); way += seats_) {
      boost::hash_combine(seed, &parts_.ways[way].facts());
      boost::hash_combine(seed, std::max(parts_.ways[way].clear_at(), entry(seat)));
    }
    boost::hash_range(seed, additions(seat), additions(seat) + additions_each());
    return seed;
  }
  [[nodiscard]] bool are_alike(std::uint32_t one, std::uint32_t other) const {
    if (entry(one) != entry(other)) return false;
    if (!std::equal(additions(one), additions(one) + additions_each(), additions(other))) return false;
    for (const RingPass& pass : work_.passes) {
      for (std::size_t at = 0; at < pass.kinds.size(); at += seats_)
        if (pass.kinds[at + one] != pass.kinds[at + other]) return false;
    }
    for (std::uint32_t slot = 0; slot < parts_.shape.slots; ++slot) {
      const RingWay& way = parts_.ways[parts_.shape.way(slot, one)];
      if (!way.is_as(parts_.ways[parts_.shape.way(slot, other)], entry(one))) return false;
    }
    return true;
  }

  /// Those that are alike by themselves.
  void begin() {
    std::unordered_map<std::size_t, std::vector<std::uint32_t>> firsts;  // by hash: the first of each part
    for (std::uint32_t seat = 0; seat < seats_; ++seat) {
      std::vector<std::uint32_t>& known = firsts[hash(seat)];
      const auto same = std::ranges::find_if(known, [&](std::uint32_t one) { return are_alike(one, seat); });
      part_of_[seat] = same != known.end() ? part_of_[*same] : count_++;
      if (same == known.end()) known.push_back(seat);
    }
  }

  /// Tells seats of a part apart by the parts of others. False: nothing has changed.
  template <class OtherOf>
  bool split(const OtherOf& other_of) {
    std::unordered_map<std::uint64_t, std::uint32_t> numbers;
    std::vector<std::uint32_t> next(seats_);
    for (std::uint32_t seat = 0; seat < seats_; ++seat) {
      const std::uint64_t both = std::uint64_t{part_of_[seat]} << 32U | part_of_[other_of(seat)];
      next[seat] = numbers.try_emplace(both, static_cast<std::uint32_t>(numbers.size())).first->second;
    }
    const std::uint32_t before = std::exchange(count_, static_cast<std::uint32_t>(numbers.size()));
    part_of_ = std::move(next);
    return count_ > before;
  }

  /// By the parts of as many before them as are known already: twice as many each time. Where this tells none apart,
  /// one more before them does not.
  bool refine_by_leaps() {
    std::vector<std::uint32_t> before(parts_.senders.begin(), parts_.senders.begin() + seats_);
    while (is_worth_it()) {
      if (!split([&](std::uint32_t seat) { return before[seat]; })) return true;
      std::vector<std::uint32_t> twice(seats_);
      for (std::uint32_t seat = 0; seat < seats_; ++seat) twice[seat] = before[before[seat]];
      before = std::move(twice);
    }
    return false;
  }
  bool refine_by_steps() {
    for (int round = 0; round < most_rounds && is_worth_it(); ++round) {
      bool any = false;
      for (std::uint32_t slot = 0; slot < parts_.shape.slots; ++slot)
        any |= split([&](std::uint32_t seat) { return parts_.senders[parts_.shape.way(slot, seat)]; });
      if (!any) return true;
    }
    return false;
  }

  [[nodiscard]] AlikeSeats taken() const {
    AlikeSeats alike{std::vector<std::uint32_t>(count_, nobody), part_of_};
    for (std::uint32_t seat = seats_; seat-- > 0;) alike.walked[part_of_[seat]] = seat;
    return alike;
  }
  [[nodiscard]] AlikeSeats everyone() const {
    AlikeSeats alike{std::vector<std::uint32_t>(seats_), {}};
    std::iota(alike.walked.begin(), alike.walked.end(), 0U);
    alike.place = alike.walked;
    return alike;
  }

  const RingParts& parts_;
  const RingWork& work_;
  const std::vector<RingEntry>& entries_;
  std::uint32_t seats_;
  std::uint32_t count_ = 0;             // of parts
  std::vector<std::uint32_t> part_of_;  // by seat
};

}  // namespace

AlikeSeats alike_seats(const RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries) {
  return Partition(parts, work, entries).find();
}

}  // namespace tessera::sim
