#include "sim/laws/rings/ring_walk.hpp"

#include <algorithm>
#include <utility>

#include "sim/laws/rings/alike_seats.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

/// Goes through the steps of seats side by side: of those that are alike, one. Times hang on no names; where several
/// things take place at one time, the last one's name is the greatest, which differs from seat to seat: so what they
/// were is kept.
class Walk {
 public:
  Walk(RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries, const AlikeSeats& seats)
      : parts_(parts),
        work_(work),
        entries_(entries),
        seats_(seats),
        count_(seats.walked.size()),
        from_(count_, entered),
        senders_(parts.shape.slots * count_),
        delivered_(parts.shape.slots * count_) {
    for (const std::uint32_t seat : seats.walked) at_.push_back(entries[parts.shape.rank(seat)].at.time);
  }

  /// When a seat posts the step, or has received it.
  [[nodiscard]] Moment at(std::uint32_t seat) const {
    const std::uint32_t place = seats_.place[seat];
    pdes::ComponentId source = 0;
    if ((from_[place] & entered) != 0) source = entries_[parts_.shape.rank(seat)].at.source;
    if ((from_[place] & added) != 0) source = std::max(source, parts_.shape.device(seat));
    for (std::uint32_t slot = 0; slot < parts_.shape.slots; ++slot)
      if ((from_[place] & came_in(slot)) != 0) source = std::max(source, parts_.hops[parts_.shape.way(slot, seat)]);
    return {at_[place], source};
  }
  /// Adding what came.
  [[nodiscard]] Time addition_of(std::uint32_t seat) const { return addition(seats_.place[seat]); }

  void begin_pass(const RingPass& pass) {
    pass_ = &pass;
    kinds_.clear();
    for (std::uint32_t slot = 0; slot < pass.slots; ++slot) {
      for (std::size_t place = 0; place < count_; ++place) {
        const std::uint32_t seat = seats_.walked[place];
        senders_[slot * count_ + place] = seats_.place[parts_.senders[way(slot, seat)]];
        kinds_.push_back(pass.kinds[slot * parts_.shape.seats() + seat]);
      }
    }
  }

  /// All seats post in a slot.
  void post_all(std::uint32_t slot) {
    const std::size_t sizes = work_.sizes.size();
    const std::uint32_t* kinds = &kinds_[slot * count_];
    Time* delivered = &delivered_[slot * count_];
    for (std::size_t place = 0; place < count_; ++place) {
      const std::uint32_t one = way(slot, seats_.walked[place]);
      delivered[place] = parts_.ways[one].send(at_[place], work_.numbers[one * sizes + kinds[place]]);
    }
  }
  /// All have received in a slot.
  void receive_all(std::uint32_t slot) {
    const std::uint32_t* senders = &senders_[slot * count_];
    const Time* delivered = &delivered_[slot * count_];
    const std::uint32_t came = came_in(pass_->first + slot);
    for (std::size_t place = 0; place < count_; ++place) {
      const Time at = delivered[senders[place]];
      if (at > at_[place]) from_[place] = 0;
      if (at >= at_[place]) from_[place] |= came;
      at_[place] = std::max(at_[place], at);
    }
  }
  void add_all() {
    if (!pass_->sums_up) return;
    for (std::size_t place = 0; place < count_; ++place) {
      const Time time = addition(place);
      if (time == 0) continue;
      at_[place] += time;
      from_[place] = added;
    }
  }

  /// What came goes on.
  void end_step() {
    if (pass_->is_uniform) return;
    came_.resize(kinds_.size());
    for (std::size_t slot = 0; slot < pass_->slots; ++slot) {
      for (std::size_t place = 0; place < count_; ++place)
        came_[slot * count_ + place] = kinds_[slot * count_ + senders_[slot * count_ + place]];
    }
    kinds_.swap(came_);
  }

 private:
  static constexpr std::uint32_t entered = 1, added = 2;
  [[nodiscard]] static std::uint32_t came_in(std::uint32_t slot) { return 4U << slot; }
  [[nodiscard]] std::uint32_t way(std::uint32_t slot, std::uint32_t seat) const {
    return parts_.shape.way(pass_->first + slot, seat);
  }
  [[nodiscard]] Time addition(std::size_t place) const {
    if (!pass_->sums_up) return 0;
    const std::uint32_t other = pass_->slots == 1 ? 0 : 1 + kinds_[count_ + senders_[count_ + place]];
    return work_.additions[work_.addition_of(seats_.walked[place], kinds_[senders_[place]], other)];
  }

  RingParts& parts_;
  const RingWork& work_;
  const std::vector<RingEntry>& entries_;
  const AlikeSeats& seats_;
  std::size_t count_;
  const RingPass* pass_ = nullptr;
  // By place among the seats that are walked along, or by slot of the pass and such a place:
  std::vector<Time> at_;
  std::vector<std::uint32_t> from_;  // what took place at that time
  std::vector<std::uint32_t> senders_;
  std::vector<Time> delivered_;
  std::vector<std::uint32_t> kinds_, came_;  // RingPass::kinds: of this step, of the next one
};

/// Ways of seats that are alike while one is walked along: it leads, and the others follow at the end.
class Leading {
 public:
  Leading(RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries, const AlikeSeats& seats)
      : parts_(parts), seats_(seats) {
    if (seats.is_all()) return;
    for (std::uint32_t slot = 0; slot < parts.shape.slots; ++slot) {
      const auto uses = [slot](const RingPass& pass) { return slot >= pass.first && slot < pass.first + pass.slots; };
      if (std::ranges::any_of(work.passes, uses)) slots_.push_back(slot);
    }
    for (const std::uint32_t slot : slots_) {
      for (std::uint32_t seat = 0; seat < parts.shape.seats(); ++seat)
        way(slot, seat).close_before(entries[parts.shape.rank(seat)].at.time);
      for (const std::uint32_t seat : seats.walked) aside_.push_back(way(slot, seat).set_aside());
    }
  }

  void follow() {
    const RingWay::PassedBursts* aside = aside_.data();
    for (const std::uint32_t slot : slots_) {
      for (std::uint32_t seat = 0; seat < parts_.shape.seats(); ++seat) {
        const std::uint32_t leader = seats_.walked[seats_.place[seat]];
        if (leader != seat) way(slot, seat).follow(way(slot, leader));
      }
      for (const std::uint32_t seat : seats_.walked) way(slot, seat).put_back(*aside++);
    }
  }

 private:
  [[nodiscard]] RingWay& way(std::uint32_t slot, std::uint32_t seat) {
    return parts_.ways[parts_.shape.way(slot, seat)];
  }
  RingParts& parts_;
  const AlikeSeats& seats_;
  std::vector<std::uint32_t> slots_;  // in use
  std::vector<RingWay::PassedBursts> aside_;
};

/// act(pass, is_last) for every step.
template <class Act>
void for_all_steps(Walk& walk, const RingWork& work, Act&& act) {
  for (const RingPass& pass : work.passes) {
    walk.begin_pass(pass);
    for (std::uint32_t step = 0; step < pass.steps; ++step) {
      act(pass, &pass == &work.passes.back() && step + 1 == pass.steps);
      walk.end_step();
    }
  }
}

}  // namespace

std::optional<Time> longest(const RingParts& parts, const RingWork& work) {
  try {
    Time step = 0, most = 0;
    for (std::uint32_t way = 0; way < parts.shape.ways(); ++way) {
      for (std::size_t kind = 0; kind < work.sizes.size() && !parts.is_gate(way); ++kind) {
        const Passage& lone = parts.ways[way].facts().lone(work.numbers[way * work.sizes.size() + kind]);
        step = std::max({step, lone.delivered, lone.clear});
        if (step == never) return std::nullopt;
      }
    }
    for (const Time time : work.additions) most = std::max(most, time);
    return repeated(2 * std::int64_t{work.steps}, time_after(step, most));
  } catch (const BeyondTimeError&) {
    return std::nullopt;
  }
}

bool is_in_range(Time begin, const RingWork& work) {
  return work.longest && saturating_add(begin, *work.longest) < latest / 2;
}

bool ends_in_range(const RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries) {
  Time begin = 0;
  for (const RingWay& path : parts.ways) begin = std::max(begin, path.clear_at());
  for (const RingEntry& entry : entries) begin = std::max(begin, entry.at.time);
  return is_in_range(begin, work);
}

namespace {

/// When the last messages of members have left them.
void find_departures(const RingParts& parts, std::vector<TakenEnd>& ends) {
  for (std::uint32_t way = 0; way < parts.shape.ways();) {
    for (TakenEnd& end : ends) end.left = std::max(end.left, parts.ways[way++].left());
  }
}

}  // namespace

std::vector<TakenEnd> ends_of(RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries) {
  if (auto ends = even_ends(parts, work, entries)) {
    find_departures(parts, *ends);
    return std::move(*ends);
  }
  const AlikeSeats seats = alike_seats(parts, work, entries);
  Leading leading(parts, work, entries, seats);
  Walk walk(parts, work, entries, seats);
  std::vector<TakenEnd> ends(entries.size());
  for_all_steps(walk, work, [&](const RingPass& pass, bool is_last) {
    for (std::uint32_t slot = 0; slot < pass.slots; ++slot) walk.post_all(slot);
    for (std::uint32_t slot = 0; slot < pass.slots; ++slot) walk.receive_all(slot);
    if (!is_last) return walk.add_all();
    for (std::uint32_t seat = 0; seat < parts.shape.seats(); ++seat) {
      TakenEnd& end = ends[parts.shape.rank(seat)];  // of a member: when the last of its seats has ended
      const Moment at = walk.at(seat);
      end.at = std::max(end.at, at);
      end.clock = std::max(end.clock, at.time + walk.addition_of(seat));
    }
  });
  leading.follow();
  find_departures(parts, ends);
  return ends;
}

}  // namespace tessera::sim
