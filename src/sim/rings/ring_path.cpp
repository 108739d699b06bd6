#include "sim/rings/ring_path.hpp"

#include <algorithm>
#include <utility>

#include "sim/network/service.hpp"
#include "sim/rings/trial_ports.hpp"
#include "tessera/base/error.hpp"

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

namespace {

/// Of links that were idle when the first message was posted at `first`.
std::vector<BusyPeriod> busy_since(Time first, const Passage& passage) {
  std::vector<BusyPeriod> busy = passage.after;
  for (BusyPeriod& one : busy) one.start = time_after(one.start, first);
  return busy;
}

}  // namespace

std::vector<BusyPeriod> RingPath::busy() const {
  if (!has_burst() && last_ != none) return busy_since(last_at_, facts_->lone(last_));
  const Bursts& now = bursts();
  if (has_burst() && now.known != none) return busy_since(now.burst.front().at, facts_->burst(now.known));
  return now.busy.empty() ? idle() : now.busy;
}

// Sizes and bursts have other numbers there.
void RingPath::go_on_from(const RingPath& other) {
  const RingPath own = *this;
  *this = other;
  facts_ = own.facts_;
  links_ = own.links_;
  tables_ = own.tables_;
  const auto renumber = [&](std::uint32_t size) {
    return size == none ? none : facts_->size_of(other.facts_->bytes(size));
  };
  const auto renumber_all = [&](std::vector<std::int64_t>& messages) {
    const std::vector<std::int64_t> theirs = std::exchange(messages, {});
    for (std::uint32_t size = 0; size < theirs.size(); ++size) {
      const std::uint32_t here = renumber(size);
      if (messages.size() <= here) messages.resize(here + 1, 0);
      messages[here] += theirs[size];
    }
  };
  last_ = renumber(other.last_);
  mark_.last = renumber(other.mark_.last);
  renumber_all(passed_);
  renumber_all(marked_);
  const auto count = [&](const PassedBursts& bursts, Bursts& in) {
    for (const auto& [number, times] : bursts) in.add_times(other.facts_->burst(number).counts, times);
  };
  const PassedBursts marked_bursts = std::exchange(marked_bursts_, {}), passed = std::exchange(passed_bursts_, {});
  if (!rest_.is_made() && marked_bursts.empty() && passed.empty()) return;
  Bursts &now = rest().now, &marked = rest().marked;
  if (is_in_burst_) now.busy = other.busy();
  if (!marked.burst.empty() && marked.known != none)
    marked.busy = busy_since(marked.burst.front().at, other.facts_->burst(marked.known));
  now.known = marked.known = none;
  count(marked_bursts, now);
  count(marked_bursts, marked);
  count(passed, now);
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

// Of the last message, if it found the links idle, and what comes behind it.
void RingPath::begin_burst() {
  if (has_burst()) return;
  Bursts& now = rest().now;
  now.known = none;
  if (now.busy.empty()) now.busy = idle();
  if (last_ == none) {
    now.before = now.busy;
    return;
  }
  --passed_[last_];
  now.burst.push_back({last_at_, facts_->bytes(last_)});
  is_in_burst_ = true;
  now.before.assign(links_.size(), {});
}

// Another message of the burst. False: what becomes of it is not known.
bool RingPath::find_known(Time at, std::uint32_t size) {
  Bursts& now = rest().now;
  const std::uint32_t lone = std::exchange(last_, none);
  if (lone == none && now.known == none) return false;
  const Time first = now.burst.front().at;
  const std::uint32_t number =
      lone != none ? facts_->behind_lone(lone, at - first, size) : facts_->behind(now.known, at - first, size);
  if (number == none) now.busy = busy_since(first, lone != none ? facts_->lone(lone) : facts_->burst(now.known));
  now.known = number;
  return now.known != none;
}

Time RingPath::send_behind(Time at, std::uint32_t size) {
  begin_burst();
  const bool is_known = find_known(at, size);
  Bursts& now = rest().now;
  now.burst.push_back({at, facts_->bytes(size)});
  is_in_burst_ = true;
  if (is_known) {
    const Passage& burst = facts_->burst(now.known);
    clear_at_ = saturating_add(now.burst.front().at, burst.clear);
    return saturating_add(now.burst.front().at, burst.delivered);
  }
  try {
    const Time delivered = pass(at, now.burst.back().bytes);
    clear_at_ = facts_->clear_behind(now.busy);
    return delivered;
  } catch (const BeyondTimeError&) {
    return never;  // as of lone messages
  }
}

// One message after the other: a FIFO of one sender is not changed by what comes behind.
Time RingPath::pass(Time at, std::int64_t bytes) {
  std::vector<BusyPeriod>& busy = rest().now.busy;
  const std::int64_t packet = tables_->packet();
  const OwnMessage message = message_of(*tables_, bytes, 0);
  const Rate& first = tables_->rate(links_[0]);
  const Service own =
      serve_own(busy[0], at, message.packets_left, message.last_bytes, {first, links_[0], first, packet});
  busy[0] = own.after;
  std::vector<Law> arrivals{own.out};
  arrivals[0].delay(tables_->link(links_[0]).latency.value());
  for (std::size_t i = 1; i < links_.size(); ++i) {
    std::vector<Law> departures;
    for (Law& law : arrivals) {
      const ServiceRates rates{tables_->rate(links_[i]), links_[i], tables_->rate(law.rate), packet};
      while (law.count > 0) {
        const Service service = serve(busy[i], law, law.count, rates);
        busy[i] = service.after;
        departures.push_back(service.out);
        departures.back().delay(tables_->link(links_[i]).latency.value());
        law.advance(service.out.count);
      }
    }
    arrivals = std::move(departures);
  }
  return arrivals.back().last;
}

void RingPath::close_burst() {
  Bursts& now = rest().now;
  if (now.guests.empty() && now.known != none) {
    add(passed_bursts_, now.known, 1);
  } else {
    TrialPorts trial(*tables_, links_, now.before, short_ends());
    static_cast<void>(trial.pass(now.burst, now.guests));
    now.add_times(trial.counts(), 1);
  }
  forget_burst();
}

void RingPath::shed() {
  if (!rest_.is_made() || is_in_burst_) return;
  const auto& [now, marked, begun, short_ends, kept, guests, next_guest] = rest_.get();
  if (now.is_empty() && marked.is_empty() && begun.empty() && kept.is_empty() && guests.empty()) rest_.forget();
}

void RingPath::Bursts::add_times(const std::vector<LinkCounts>& more, std::int64_t times) {
  counts.resize(std::max(counts.size(), more.size()));
  for (std::size_t i = 0; i < more.size() && times > 0; ++i)
    counts[i].add({more[i].bytes * times, more[i].messages * times, more[i].busy * times, more[i].peak_queue,
                   more[i].alone * times});
}

void RingPath::forget_burst() {
  if (!rest_.is_made()) return;
  Bursts& now = rest().now;
  now.burst.clear();
  now.guests.clear();
  now.known = none;
  is_in_burst_ = false;
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
