#include "sim/laws/rings/ring_walk.hpp"

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

  void begin_pass(const RingPass& pass) {
    pass_ = &pass;
    kinds_ = pass.kinds.data();
  }
  [[nodiscard]] std::uint32_t way(std::uint32_t slot, std::uint32_t seat) const {
    return (pass_->first + slot) * seats_ + seat;
  }
  [[nodiscard]] std::uint32_t sender(std::uint32_t slot, std::uint32_t seat) const {
    return parts_.senders[way(slot, seat)];
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

  /// All seats post in a slot.
  void post_all(std::uint32_t slot) {
    const std::uint32_t first = way(slot, 0);
    const std::size_t sizes = work_.sizes.size();
    const std::uint32_t* numbers = &work_.numbers[first * sizes];
    const std::uint32_t* kinds = kinds_ + slot * seats_;
    RingWay* ring_ways = &parts_.ways[first];
    Time* delivered = &delivered_[first];
    for (std::uint32_t seat = 0; seat < seats_; ++seat)
      delivered[seat] = ring_ways[seat].send(at_[seat].time, numbers[seat * sizes + kinds[seat]]);
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
  Walk walk(parts, work, entries);
  std::vector<TakenEnd> ends(entries.size());
  for_all_steps(walk, work, [&](const RingPass& pass, bool is_last) {
    for (std::uint32_t slot = 0; slot < pass.slots; ++slot) walk.post_all(slot);
    for (std::uint32_t slot = 0; slot < pass.slots; ++slot) walk.receive_all(slot);
    if (!is_last) return walk.add_all();
    for (std::uint32_t seat = 0; seat < walk.seats(); ++seat) {
      TakenEnd& end = ends[parts.shape.rank(seat)];  // of a member: when the last of its seats has ended
      end.at = std::max(end.at, walk.at(seat));
      end.clock = std::max(end.clock, walk.at(seat).time + walk.addition(seat));
    }
  });
  find_departures(parts, ends);
  return ends;
}

}  // namespace tessera::sim
