// A walk through the steps of a collective round rings, one seat of those that are alike.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/laws/rings/alike_seats.hpp"

namespace tessera::sim {

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
  /// Adding what came, and the pause.
  [[nodiscard]] Time addition_of(std::uint32_t seat) const { return addition(seats_.place[seat]); }

  /// What a seat sends next in a slot of the pass.
  [[nodiscard]] std::uint32_t kind(std::uint32_t slot, std::uint32_t seat) const {
    return kinds_[slot * count_ + seats_.place[seat]];
  }
  /// Of all seats, behind the step.
  [[nodiscard]] Time latest_at() const { return std::ranges::max(at_); }

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

  /// All post, and receive what has been posted.
  void step() {
    for (std::uint32_t slot = 0; slot < pass_->slots; ++slot) post_all(slot);
    for (std::uint32_t slot = 0; slot < pass_->slots; ++slot) receive_all(slot);
  }
  void add_all() {
    if (!pass_->sums_up && work_.pause == 0) return;
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
  void post_all(std::uint32_t slot) {
    const std::size_t sizes = work_.sizes.size();
    const std::uint32_t* kinds = &kinds_[slot * count_];
    Time* delivered = &delivered_[slot * count_];
    for (std::size_t place = 0; place < count_; ++place) {
      const std::uint32_t one = way(slot, seats_.walked[place]);
      delivered[place] = parts_.ways[one].send(at_[place], work_.numbers[one * sizes + kinds[place]]);
    }
  }
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

  static constexpr std::uint32_t entered = 1, added = 2;
  [[nodiscard]] static std::uint32_t came_in(std::uint32_t slot) { return 4U << slot; }
  [[nodiscard]] std::uint32_t way(std::uint32_t slot, std::uint32_t seat) const {
    return parts_.shape.way(pass_->first + slot, seat);
  }
  [[nodiscard]] Time addition(std::size_t place) const {
    if (!pass_->sums_up) return work_.pause;
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

/// The walk's steps, one after the other, while act(number of the step) says so: for how many it has.
template <class Act>
std::uint32_t take_steps(Walk& walk, const RingWork& work, Act&& act) {
  std::uint32_t taken = 0;
  for (const RingPass& pass : work.passes) {
    walk.begin_pass(pass);
    for (std::uint32_t step = 0; step < pass.steps; ++step, ++taken) {
      if (!act(taken)) return taken;
      walk.end_step();
    }
  }
  return taken;
}

/// Ways of seats that are alike while one is walked along for so many steps: it leads, and the others follow at the
/// end.
class Leading {
 public:
  Leading(RingParts& parts, const RingWork& work, const std::vector<RingEntry>& entries, const AlikeSeats& seats,
          std::uint32_t steps)
      : parts_(parts), seats_(seats) {
    if (seats.is_all()) return;
    find_slots(work, steps);
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
  void find_slots(const RingWork& work, std::uint32_t steps) {
    for (const RingPass& pass : work.passes) {
      for (std::uint32_t slot = pass.first; slot < pass.first + pass.slots && steps > 0; ++slot)
        if (std::ranges::find(slots_, slot) == slots_.end()) slots_.push_back(slot);
      steps -= std::min(steps, pass.steps);
    }
  }

  RingParts& parts_;
  const AlikeSeats& seats_;
  std::vector<std::uint32_t> slots_;  // in use
  std::vector<RingWay::PassedBursts> aside_;
};

}  // namespace tessera::sim
