// Ways on which the same is sent: one of them is walked along, and the others follow it.
#include <utility>

#include "sim/laws/rings/ring_way.hpp"

namespace tessera::sim {

// Where both are clear, a message is alone, and leaves nothing of what was before.
bool RingWay::is_as(const RingWay& other, Time at) const {
  const State &one = state_, &two = other.state_;
  if (facts_ != other.facts_ || has_guests() || other.has_guests() || has_kept() || other.has_kept()) return false;
  if (one.clear_at <= at && two.clear_at <= at) return true;
  const bool is_same_last = one.last == two.last && (one.last == none || one.last_at == two.last_at);
  if (one.clear_at != two.clear_at || !is_same_last || one.is_in_burst != two.is_in_burst) return false;
  const Rest &mine = one.rest.get(), &its = two.rest.get();
  return mine.now.burst == its.now.burst && mine.now.before == its.now.before && mine.now.busy == its.now.busy &&
         mine.now.known == its.now.known && short_ends() == other.short_ends() && mine.own_left == its.own_left;
}

RingWay::PassedBursts RingWay::set_aside() {
  PassedBursts passed;
  passed.known = std::exchange(state_.passed_bursts, {});
  if (state_.rest.is_made()) passed.counts = std::exchange(rest().now.counts, {});
  return passed;
}

void RingWay::put_back(const PassedBursts& passed) {
  for (const auto& [number, times] : passed.known) add(state_.passed_bursts, number, times);
  if (!passed.counts.empty()) rest().now.add_times(passed.counts, 1);
}

void RingWay::follow(const RingWay& leader) {
  const State& its = leader.state_;
  state_.clear_at = its.clear_at;
  state_.last_at = its.last_at;
  state_.last = its.last;
  if (state_.passed.size() < its.passed.size()) state_.passed.resize(its.passed.size());
  for (std::size_t size = 0; size < its.passed.size(); ++size) state_.passed[size] += its.passed[size];
  const Bursts& now = leader.bursts();
  put_back({its.passed_bursts, now.counts});
  if (its.is_in_burst) {
    Bursts& own = rest().now;
    own.burst = now.burst;
    own.before = now.before;
    own.busy = now.busy;
    own.known = now.known;
    state_.is_in_burst = true;
  } else {
    forget_burst();
  }
}

}  // namespace tessera::sim
