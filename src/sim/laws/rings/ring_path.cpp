#include "sim/laws/rings/ring_path.hpp"

#include <algorithm>
#include <utility>

namespace tessera::sim {

RingPath::RingPath(WayTable& ways, std::vector<machine::LinkId> links)
    : facts_(&ways.of(links)), tables_(&ways.tables()), links_(std::move(links)) {
  begin(std::vector<BusyPeriod>(links_.size()), std::vector<ShortEnds>(links_.size()));
}

void RingPath::begin(const std::vector<BusyPeriod>& busy, const std::vector<ShortEnds>& short_ends) {
  rest_.forget();
  marked_.clear();
  marked_bursts_.clear();
  passed_bursts_.clear();
  mark_ = {};
  last_ = none;
  last_delivery_ = 0;
  is_among_ = is_in_burst_ = false;
  passed_.assign(passed_.size(), 0);
  if (std::ranges::any_of(busy, [](const BusyPeriod& one) { return one.bytes > 0; })) {
    rest().begun = rest().now.busy = busy;
    rest().short_ends = short_ends;
  }
  clear_at_ = mark_.clear_at = facts_->clear_behind(busy);
}

std::vector<ShortEnds> RingPath::short_ends() const {
  const std::vector<ShortEnds>& short_ends = rest_.get().short_ends;
  return short_ends.empty() ? std::vector<ShortEnds>(links_.size()) : short_ends;
}

void RingPath::add(PassedBursts& bursts, std::uint32_t number, std::int64_t times) {
  const auto known = std::ranges::find(bursts, number, &PassedBursts::value_type::first);
  if (known == bursts.end()) return void(bursts.emplace_back(number, times));
  known->second += times;
}

void RingPath::mark() {
  if (marked_.size() < passed_.size()) marked_.resize(passed_.size(), 0);
  for (std::size_t size = 0; size < passed_.size(); ++size) marked_[size] += std::exchange(passed_[size], 0);
  for (const auto& [number, times] : passed_bursts_) add(marked_bursts_, number, times);
  passed_bursts_.clear();
  mark_.clear_at = clear_at_;
  mark_.last_at = last_at_;
  mark_.last = last_;
  if (!rest_.is_made()) return;
  auto& [now, marked, begun, short_ends, kept, guests, next_guest] = *rest_;
  guests.erase(guests.begin(), guests.begin() + static_cast<std::ptrdiff_t>(std::exchange(next_guest, 0)));
  marked = now;
}

void RingPath::rewind() {
  clear_at_ = mark_.clear_at;
  last_at_ = mark_.last_at;
  last_ = mark_.last;
  std::fill(passed_.begin(), passed_.end(), 0);
  passed_bursts_.clear();
  last_delivery_ = 0;
  end_ = never;
  if (!rest_.is_made()) return;
  auto& [now, marked, begun, short_ends, kept, guests, next_guest] = *rest_;
  next_guest = 0;
  is_among_ = !guests.empty() || !marked.guests.empty();
  now = marked;
  if (now.is_empty() && last_ == none) now.busy = begun;
  is_in_burst_ = !now.burst.empty();
}

std::vector<BusyPeriod> RingPath::busy() const {
  if (!has_burst() && last_ != none) return facts_->lone(last_).busy_since(last_at_);
  const Bursts& now = bursts();
  if (has_burst() && now.known != none) return facts_->burst(now.known).busy_since(now.burst.front().at);
  return now.busy.empty() ? idle() : now.busy;
}

Time RingPath::delivered() const {
  const std::vector<BusyPeriod> behind = busy();
  Time delivered = 0;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Time end = behind[i].end(tables_->rate(links_[i]));
    delivered = std::max(delivered, time_after(end, tables_->link(links_[i]).latency.value()));
  }
  return delivered;
}

Time RingPath::left() const {
  const Rate& rate = tables_->rate(links_[0]);
  if (!has_burst() && last_ != none) return last_at_ + facts_->lone(last_).after[0].end(rate);
  return busy()[0].end(rate);
}

std::vector<LinkCounts> RingPath::take_counts() {
  take_in_guests();
  if (has_burst()) {
    close_burst();
    last_ = none;
  }
  mark();
  Bursts passed;
  passed.counts.resize(links_.size());
  for (std::uint32_t size = 0; size < marked_.size(); ++size)
    passed.add_times(facts_->lone(size).counts, std::exchange(marked_[size], 0));
  for (const auto& [number, times] : std::exchange(marked_bursts_, {}))
    passed.add_times(facts_->burst(number).counts, times);
  if (rest_.is_made()) passed.add_times(std::exchange(rest().now.counts, {}), 1);
  return std::move(passed.counts);
}

// Puts the last message or burst aside.
void RingPath::keep_last() {
  UnderWay& kept = rest().kept;
  const Bursts& now = rest().now;
  if (kept.is_empty()) kept.busy = has_burst() ? now.before : idle();
  if (!has_burst()) {
    kept.posted.push_back({last_at_, facts_->bytes(last_)});
    --passed_[last_];
  } else {
    kept.posted.insert(kept.posted.end(), now.burst.begin(), now.burst.end());
    kept.guests.insert(kept.guests.end(), now.guests.begin(), now.guests.end());
  }
  forget_burst();
  last_ = none;
}

// All of the last message or burst.
bool RingPath::is_over() const {
  if (last_delivery_ >= end_ && (last_ != none || is_in_burst_)) return false;
  return bursts().guests.empty() || busy().back().end(tables_->rate(links_.back())) < end_;
}

Time RingPath::send_until(Time at, std::uint32_t size, Time end) {
  end_ = end;
  const bool any = last_ != none || has_burst();
  if (at >= clear_at_ && any && (has_kept() || !is_over())) keep_last();
  return last_delivery_ = send(at, size);
}

RingPath::UnderWay RingPath::take_last(Time end) {
  end_ = end;
  const bool any = last_ != none || has_burst();
  if (any && (has_kept() || !is_over())) keep_last();
  take_in_guests();
  if (has_burst() && (has_kept() || !is_over())) keep_last();
  end_ = never;
  UnderWay last;
  if (rest_.is_made()) std::swap(last, rest().kept);
  if (last.is_empty()) last.busy = busy();
  return last;
}

}  // namespace tessera::sim
