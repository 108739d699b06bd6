#include "sim/rings/ring_walk.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

/// Goes through the steps of all seats side by side.
class Walk {
 public:
  Walk(RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries)
      : parts_(parts), work_(work), seats_(parts.shape.seats()), delivered_(parts.shape.ways()) {
    at_.reserve(seats_);
    for (std::uint32_t strand = 0; strand < parts.shape.strands; ++strand) {
      for (const RingEntry& entry : entries) at_.push_back(entry.at);
    }
  }

  [[nodiscard]] std::uint32_t seats() const { return seats_; }
  [[nodiscard]] const Moment& at(std::uint32_t seat) const { return at_[seat]; }
  [[nodiscard]] Time& delivered(std::uint32_t way) { return delivered_[way]; }

  void begin_pass(const RingPass& pass) {
    pass_ = &pass;
    kinds_ = pass.kinds.data();
  }
  [[nodiscard]] std::uint32_t way(std::uint32_t slot, std::uint32_t seat) const {
    return (pass_->first + slot) * seats_ + seat;
  }
  /// The number of the size of what a seat sends.
  [[nodiscard]] std::uint32_t size(std::uint32_t slot, std::uint32_t seat) const {
    return work_.numbers[way(slot, seat) * work_.sizes.size() + kinds_[slot * seats_ + seat]];
  }
  [[nodiscard]] std::uint32_t sender(std::uint32_t slot, std::uint32_t seat) const {
    return parts_.senders[way(slot, seat)];
  }

  /// What it waits for in a slot comes at delivered(); at() is then when it has come.
  void receive(std::uint32_t slot, std::uint32_t seat) {
    Moment& at = at_[seat];
    const Moment arrival{delivered_[way(slot, sender(slot, seat))], parts_.hops[way(slot, seat)]};
    if (at < arrival) at = arrival;
  }
  /// Adding what came.
  [[nodiscard]] Time addition(std::uint32_t seat) const {
    if (!pass_->sums_up) return 0;
    const std::uint32_t kind = kinds_[sender(0, seat)];
    if (pass_->slots == 1) return work_.additions[work_.addition_of(seat, kind, 0)];
    return work_.additions[work_.addition_of(seat, kind, 1 + kinds_[seats_ + sender(1, seat)])];
  }
  void add(std::uint32_t seat) {
    const Time time = addition(seat);
    if (time > 0) at_[seat] = {at_[seat].time + time, parts_.shape.device(seat)};
  }
  void wait_for_ever(std::uint32_t seat) { at_[seat] = {never, 0}; }

  /// All seats post in a slot.
  void post_all(std::uint32_t slot) {
    const std::uint32_t first = way(slot, 0);
    const std::size_t sizes = work_.sizes.size();
    const std::uint32_t* numbers = &work_.numbers[first * sizes];
    const std::uint32_t* kinds = kinds_ + slot * seats_;
    RingPath* paths = &parts_.paths[first];
    Time* delivered = &delivered_[first];
    for (std::uint32_t seat = 0; seat < seats_; ++seat)
      delivered[seat] = paths[seat].send(at_[seat].time, numbers[seat * sizes + kinds[seat]]);
  }
  /// All have received in a slot.
  void receive_all(std::uint32_t slot) {
    const std::uint32_t first = way(slot, 0);
    const std::uint32_t* senders = &parts_.senders[first];
    const pdes::ComponentId* hops = &parts_.hops[first];
    const Time* delivered = &delivered_[first];
    for (std::uint32_t seat = 0; seat < seats_; ++seat)
      at_[seat] = std::max(at_[seat], Moment{delivered[senders[seat]], hops[seat]});
  }
  void add_all() {
    if (!pass_->sums_up) return;
    for (std::uint32_t seat = 0; seat < seats_; ++seat) add(seat);
  }

  /// What came goes on.
  void end_step() {
    if (pass_->is_uniform) return;
    came_.resize(pass_->kinds.size());
    for (std::uint32_t slot = 0; slot < pass_->slots; ++slot) {
      for (std::uint32_t seat = 0; seat < seats_; ++seat)
        came_[slot * seats_ + seat] = kinds_[slot * seats_ + sender(slot, seat)];
    }
    goes_on_.swap(came_);
    kinds_ = goes_on_.data();
  }

 private:
  RingParts& parts_;
  const RingWork& work_;
  std::uint32_t seats_;
  const RingPass* pass_ = nullptr;
  std::vector<Moment> at_;                     // by seat: when it posts the step, or has received it
  std::vector<Time> delivered_;                // by way
  const std::uint32_t* kinds_ = nullptr;       // RingPass::kinds, of this step
  std::vector<std::uint32_t> goes_on_, came_;  // where they are not those of the pass: this step's, the next one's
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

bool ends_in_range(const RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries) {
  try {
    Time step = 0, end = 0;
    for (std::uint32_t way = 0; way < parts.shape.ways(); ++way) {
      for (std::size_t kind = 0; kind < work.sizes.size(); ++kind) {
        const Passage& lone = parts.paths[way].facts().lone(work.numbers[way * work.sizes.size() + kind]);
        step = std::max({step, lone.delivered, lone.clear});
        if (step == never) return false;
      }
      end = std::max(end, parts.paths[way].clear_at());
    }
    Time most = 0;
    for (const Time time : work.additions) most = std::max(most, time);
    for (const RingEntry& entry : entries) end = std::max(end, entry.at.time);
    end = time_after(end, repeated(2 * std::int64_t{work.steps}, time_after(step, most)));
    return end < latest / 2;
  } catch (const BeyondTimeError&) {
    return false;
  }
}

namespace {

/// When the last messages of members have left them.
void find_departures(const RingParts& parts, std::vector<RingEnd>& ends) {
  for (std::uint32_t way = 0; way < parts.shape.ways();) {
    for (RingEnd& end : ends) end.left = std::max(end.left, parts.paths[way++].left());
  }
}

}  // namespace

std::vector<RingEnd> ends_of(RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries) {
  if (auto ends = even_ends(parts, work, entries)) {
    find_departures(parts, *ends);
    return std::move(*ends);
  }
  Walk walk(parts, work, entries);
  std::vector<RingEnd> ends(entries.size());
  for_all_steps(walk, work, [&](const RingPass& pass, bool is_last) {
    for (std::uint32_t slot = 0; slot < pass.slots; ++slot) walk.post_all(slot);
    for (std::uint32_t slot = 0; slot < pass.slots; ++slot) walk.receive_all(slot);
    if (!is_last) return walk.add_all();
    for (std::uint32_t seat = 0; seat < walk.seats(); ++seat) {
      RingEnd& end = ends[parts.shape.rank(seat)];  // of a member: when the last of its seats has ended
      end.at = std::max(end.at, walk.at(seat));
      end.clock = std::max(end.clock, walk.at(seat).time + walk.addition(seat));
    }
  });
  find_departures(parts, ends);
  return ends;
}

namespace {

/// Goes through the steps as far as they have taken place.
class Standings {
 public:
  Standings(const Moment& event, const std::vector<bool>& to_come, RingParts& parts, const RingWork& work,
            const std::vector<RingEntry>& entries)
      : event_(event),
        end_{event.time, event.source + 1},
        to_come_(to_come),
        parts_(parts),
        walk_(parts, work, entries),
        standings_(walk_.seats()),
        told_(walk_.seats()),
        posts_(walk_.seats()) {
    for (std::uint32_t seat = 0; seat < walk_.seats(); ++seat)
      standings_[seat].waited_until = entries[parts.shape.rank(seat)].joined;
  }

  std::vector<RingStanding> find(const RingWork& work) {
    bool is_first = true;
    for_all_steps(walk_, work, [&](const RingPass& pass, bool is_last) {
      for (std::uint32_t seat = 0; seat < walk_.seats(); ++seat) {
        const bool is_to_come = !to_come_.empty() && to_come_[seat];
        posts_[seat] = is_first ? walk_.at(seat).time != never : walk_.at(seat) < (is_to_come ? event_ : end_);
        told_[seat] = standings_[seat].waited_until;
        if (posts_[seat]) post(pass, seat);
      }
      for (std::uint32_t seat = 0; seat < walk_.seats(); ++seat) {
        receive(pass, seat) ? go_on(seat, is_last) : walk_.wait_for_ever(seat);
      }
      is_first = false;
    });
    return std::move(standings_);
  }

 private:
  void post(const RingPass& pass, std::uint32_t seat) {
    ++standings_[seat].posted;
    for (std::uint32_t slot = 0; slot < pass.slots; ++slot) {
      const std::uint32_t way = walk_.way(slot, seat);
      walk_.delivered(way) = parts_.paths[way].send_until(walk_.at(seat).time, walk_.size(slot, seat), end_.time);
    }
  }

  // True when it has posted the step, and all has come.
  bool receive(const RingPass& pass, std::uint32_t seat) {
    RingStanding& standing = standings_[seat];
    bool all_come = posts_[seat];
    for (std::uint32_t slot = 0; slot < pass.slots; ++slot) {
      RingStanding::Slot& here = standing.slots[pass.first + slot];
      const std::uint32_t from = walk_.sender(slot, seat);
      const Moment arrival{walk_.delivered(walk_.way(slot, from)), parts_.hops[walk_.way(slot, seat)]};
      const bool comes = posts_[from] && arrival < (posts_[seat] ? end_ : event_);
      if (posts_[from] && !comes) {
        RingStanding::Slot& there = standings_[from].slots[pass.first + slot];
        there.on_their_way.push_back(told_[from]);
        if (arrival < end_) ++there.tied;
      }
      if (!posts_[seat]) {
        if (comes) here.early.push_back(told_[from]);
        continue;
      }
      here.awaits = !comes;
      all_come = all_come && comes;
      if (!comes) continue;
      standing.waited_until = std::max(standing.waited_until, told_[from]);
      walk_.receive(slot, seat);
    }
    return all_come;
  }

  void go_on(std::uint32_t seat, bool is_last) {
    RingStanding& standing = standings_[seat];
    ++standing.taken;
    if (is_last) {
      standing.ended = walk_.at(seat).time + walk_.addition(seat);
    } else {
      walk_.add(seat);
    }
    standing.next = walk_.at(seat);
  }

  Moment event_, end_;  // the end: behind it
  const std::vector<bool>& to_come_;
  RingParts& parts_;
  Walk walk_;
  std::vector<RingStanding> standings_;
  std::vector<Time> told_;   // what a seat's messages of the step say
  std::vector<char> posts_;  // in the step, before the end
};

}  // namespace

std::vector<RingStanding> standings_at(const Moment& event, const std::vector<bool>& to_come, RingParts& parts,
                                       const RingWork& work, const std::vector<RingEntry>& entries) {
  return Standings(event, to_come, parts, work, entries).find(work);
}

}  // namespace tessera::sim
