#include "sim/laws/rings/ring_way.hpp"

#include <algorithm>
#include <utility>

namespace tessera::sim {

RingWay::RingWay(WayTable& ways, std::vector<machine::LinkId> links)
    : facts_(&ways.of(links)), tables_(&ways.tables()), links_(std::move(links)) {
  begin(std::vector<BusyPeriod>(links_.size()), std::vector<ShortEnds>(links_.size()));
}

void RingWay::begin(const std::vector<BusyPeriod>& busy, const std::vector<ShortEnds>& short_ends, Time own_left) {
  state_.rest.forget();
  state_.marked.clear();
  state_.marked_bursts.clear();
  state_.passed_bursts.clear();
  state_.mark = {};
  state_.last = none;
  state_.last_delivery = 0;
  state_.is_among = state_.is_in_burst = false;
  state_.passed.assign(state_.passed.size(), 0);
  if (std::ranges::any_of(busy, [](const BusyPeriod& one) { return one.bytes > 0; })) {
    rest().begun = rest().now.busy = busy;
    rest().short_ends = short_ends;
    rest().own_left = own_left;
  }
  state_.clear_at = state_.mark.clear_at = facts_->clear_behind(busy);
}

std::vector<ShortEnds> RingWay::short_ends() const {
  const std::vector<ShortEnds>& short_ends = state_.rest.get().short_ends;
  return short_ends.empty() ? std::vector<ShortEnds>(links_.size()) : short_ends;
}

void RingWay::add(Known& bursts, std::uint32_t number, std::int64_t times) {
  const auto known = std::ranges::find(bursts, number, &Known::value_type::first);
  if (known == bursts.end()) return void(bursts.emplace_back(number, times));
  known->second += times;
}

void RingWay::mark() {
  if (state_.marked.size() < state_.passed.size()) state_.marked.resize(state_.passed.size(), 0);
  for (std::size_t size = 0; size < state_.passed.size(); ++size)
    state_.marked[size] += std::exchange(state_.passed[size], 0);
  for (const auto& [number, times] : state_.passed_bursts) add(state_.marked_bursts, number, times);
  state_.passed_bursts.clear();
  state_.mark.clear_at = state_.clear_at;
  state_.mark.last_at = state_.last_at;
  state_.mark.last = state_.last;
  if (!state_.rest.is_made()) return;
  auto& [now, marked, begun, short_ends, own_left, kept, guests, next_guest] = *state_.rest;
  guests.erase(guests.begin(), guests.begin() + static_cast<std::ptrdiff_t>(std::exchange(next_guest, 0)));
  marked = now;
}

void RingWay::rewind() {
  state_.clear_at = state_.mark.clear_at;
  state_.last_at = state_.mark.last_at;
  state_.last = state_.mark.last;
  std::fill(state_.passed.begin(), state_.passed.end(), 0);
  state_.passed_bursts.clear();
  state_.last_delivery = 0;
  state_.end = never;
  if (!state_.rest.is_made()) return;
  auto& [now, marked, begun, short_ends, own_left, kept, guests, next_guest] = *state_.rest;
  next_guest = 0;
  state_.is_among = !guests.empty() || !marked.guests.empty();
  now = marked;
  if (now.is_empty() && state_.last == none) now.busy = begun;
  state_.is_in_burst = !now.burst.empty();
}

std::vector<BusyPeriod> RingWay::busy() const {
  if (!has_burst() && state_.last != none) return facts_->lone(state_.last).busy_since(state_.last_at);
  const Bursts& now = bursts();
  if (has_burst() && now.known != none) return facts_->burst(now.known).busy_since(now.burst.front().at);
  return now.busy.empty() ? idle() : now.busy;
}

Time RingWay::delivered() const {
  const std::vector<BusyPeriod> behind = busy();
  Time delivered = 0;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Time end = behind[i].end(tables_->rate(links_[i]));
    delivered = std::max(delivered, time_after(end, tables_->link(links_[i]).latency.value()));
  }
  return delivered;
}

Time RingWay::left() const {
  const Rate& rate = tables_->rate(links_[0]);
  if (!has_burst() && state_.last != none) return state_.last_at + facts_->lone(state_.last).after[0].end(rate);
  return busy()[0].end(rate);
}

std::vector<LinkCounts> RingWay::take_counts() {
  take_in_guests();
  if (has_burst()) {
    close_burst();
    state_.last = none;
  }
  mark();
  Bursts passed;
  passed.counts.resize(links_.size());
  for (std::uint32_t size = 0; size < state_.marked.size(); ++size)
    passed.add_times(facts_->lone(size).counts, std::exchange(state_.marked[size], 0));
  for (const auto& [number, times] : std::exchange(state_.marked_bursts, {}))
    passed.add_times(facts_->burst(number).counts, times);
  if (state_.rest.is_made()) passed.add_times(std::exchange(rest().now.counts, {}), 1);
  return std::move(passed.counts);
}

// Puts the last message or burst aside.
void RingWay::keep_last() {
  UnderWay& kept = rest().kept;
  const Bursts& now = rest().now;
  if (kept.is_empty()) kept.busy = has_burst() ? now.before : idle();
  if (!has_burst()) {
    kept.posted.push_back({state_.last_at, facts_->bytes(state_.last)});
    --state_.passed[state_.last];
  } else {
    kept.posted.insert(kept.posted.end(), now.burst.all().begin(), now.burst.all().end());
    kept.guests.insert(kept.guests.end(), now.guests.begin(), now.guests.end());
  }
  forget_burst();
  state_.last = none;
}

// All of the last message or burst.
bool RingWay::is_over() const {
  if (state_.last_delivery >= state_.end && (state_.last != none || state_.is_in_burst)) return false;
  return bursts().guests.empty() || busy().back().end(tables_->rate(links_.back())) < state_.end;
}

Time RingWay::send_until(Time at, std::uint32_t size, Time end) {
  state_.end = end;
  const bool any = state_.last != none || has_burst();
  if (at >= state_.clear_at && any && (has_kept() || !is_over())) keep_last();
  return state_.last_delivery = send(at, size);
}

RingWay::UnderWay RingWay::take_last(Time end) {
  state_.end = end;
  const bool any = state_.last != none || has_burst();
  if (any && (has_kept() || !is_over())) keep_last();
  take_in_guests();
  if (has_burst() && (has_kept() || !is_over())) keep_last();
  state_.end = never;
  UnderWay last;
  if (state_.rest.is_made()) std::swap(last, rest().kept);
  if (last.is_empty()) last.busy = busy();
  return last;
}

}  // namespace tessera::sim
