#include "sim/rings/ring_path.hpp"

#include <algorithm>
#include <utility>

#include "sim/network/service.hpp"
#include "sim/rings/trial_ports.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {

RingPath::RingPath(WayTable& ways, std::vector<machine::LinkId> links)
    : facts_(&ways.of(links)), links_(std::move(links)), tables_(&ways.tables()) {
  begin(std::vector<BusyPeriod>(links_.size()), std::vector<ShortEnds>(links_.size()));
}

void RingPath::begin(const std::vector<BusyPeriod>& busy, const std::vector<ShortEnds>& short_ends) {
  busy_ = begun_ = busy;
  short_ends_ = short_ends;
  has_bursts_ = false;
  marked_.clear();
  mark_ = {};
  last_ = none;
  last_delivery_ = 0;
  burst_.clear();
  burst_guests_.clear();
  guests_.clear();
  next_guest_ = 0;
  is_among_ = false;
  known_ = none;
  passed_.assign(passed_.size(), 0);
  counts_.assign(links_.size(), {});
  clear_at_ = mark_.clear_at = facts_->clear_behind(busy_);
}

void RingPath::mark() {
  if (marked_.size() < passed_.size()) marked_.resize(passed_.size(), 0);
  for (std::size_t size = 0; size < passed_.size(); ++size) marked_[size] += std::exchange(passed_[size], 0);
  mark_.clear_at = clear_at_;
  mark_.last_at = last_at_;
  mark_.last = last_;
  mark_.has_bursts = has_bursts_;
  guests_.erase(guests_.begin(), guests_.begin() + static_cast<std::ptrdiff_t>(std::exchange(next_guest_, 0)));
  if (!has_bursts_) return;
  mark_.burst = burst_;
  mark_.burst_guests = burst_guests_;
  mark_.known = known_;
  mark_.before = before_;
  mark_.busy = busy_;
  mark_.counts = counts_;
}

void RingPath::rewind() {
  clear_at_ = mark_.clear_at;
  last_at_ = mark_.last_at;
  last_ = mark_.last;
  std::fill(passed_.begin(), passed_.end(), 0);
  last_delivery_ = 0;
  end_ = never;
  next_guest_ = 0;
  is_among_ = !guests_.empty() || (mark_.has_bursts && !mark_.burst_guests.empty());
  if (!has_bursts_) return;
  if (mark_.has_bursts) {
    burst_ = mark_.burst;
    burst_guests_ = mark_.burst_guests;
    known_ = mark_.known;
    before_ = mark_.before;
    busy_ = mark_.busy;
    counts_ = mark_.counts;
  } else {
    burst_.clear();
    burst_guests_.clear();
    counts_.assign(links_.size(), {});
    if (last_ == none) busy_ = begun_;
  }
  has_bursts_ = mark_.has_bursts;
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
  if (has_burst()) return known_ == none ? busy_ : busy_since(burst_.front().at, facts_->burst(known_));
  return last_ == none ? busy_ : busy_since(last_at_, facts_->lone(last_));
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
  if (!burst_.empty()) busy_ = other.busy();
  if (!mark_.burst.empty() && mark_.known != none)
    mark_.busy = busy_since(mark_.burst.front().at, other.facts_->burst(mark_.known));
  known_ = mark_.known = none;
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
  has_bursts_ = true;
  if (has_burst()) return;
  known_ = none;
  if (last_ == none) {
    before_ = busy_;
    return;
  }
  --passed_[last_];
  burst_.push_back({last_at_, facts_->bytes(last_)});
  before_.assign(links_.size(), {});
}

// Another message of the burst. False: what becomes of it is not known.
bool RingPath::find_known(Time at, std::uint32_t size) {
  const std::uint32_t lone = std::exchange(last_, none);
  if (lone == none && known_ == none) return false;
  const Time first = burst_.front().at;
  const std::uint32_t number =
      lone != none ? facts_->behind_lone(lone, at - first, size) : facts_->behind(known_, at - first, size);
  if (number == none) busy_ = busy_since(first, lone != none ? facts_->lone(lone) : facts_->burst(known_));
  known_ = number;
  return known_ != none;
}

Time RingPath::send_behind(Time at, std::uint32_t size) {
  begin_burst();
  const bool is_known = find_known(at, size);
  burst_.push_back({at, facts_->bytes(size)});
  if (is_known) {
    const Passage& burst = facts_->burst(known_);
    clear_at_ = saturating_add(burst_.front().at, burst.clear);
    return saturating_add(burst_.front().at, burst.delivered);
  }
  try {
    const Time delivered = pass(at, burst_.back().bytes);
    clear_at_ = facts_->clear_behind(busy_);
    return delivered;
  } catch (const BeyondTimeError&) {
    return never;  // as of lone messages
  }
}

// One message after the other: a FIFO of one sender is not changed by what comes behind.
Time RingPath::pass(Time at, std::int64_t bytes) {
  const std::int64_t packet = tables_->packet();
  const OwnMessage message = message_of(*tables_, bytes, 0);
  const Rate& first = tables_->rate(links_[0]);
  const Service own =
      serve_own(busy_[0], at, message.packets_left, message.last_bytes, {first, links_[0], first, packet});
  busy_[0] = own.after;
  std::vector<Law> arrivals{own.out};
  arrivals[0].delay(tables_->link(links_[0]).latency.value());
  for (std::size_t i = 1; i < links_.size(); ++i) {
    std::vector<Law> departures;
    for (Law& law : arrivals) {
      const ServiceRates rates{tables_->rate(links_[i]), links_[i], tables_->rate(law.rate), packet};
      while (law.count > 0) {
        const Service service = serve(busy_[i], law, law.count, rates);
        busy_[i] = service.after;
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
  const auto add = [this](const std::vector<LinkCounts>& counts) {
    for (std::size_t i = 0; i < counts.size(); ++i) counts_[i].add(counts[i]);
  };
  if (burst_guests_.empty() && known_ != none) {
    add(facts_->burst(known_).counts);
  } else {
    TrialPorts trial(*tables_, links_, before_, short_ends_);
    static_cast<void>(trial.pass(burst_, burst_guests_));
    add(trial.counts());
  }
  burst_.clear();
  burst_guests_.clear();
  known_ = none;
}

std::vector<LinkCounts> RingPath::take_counts() {
  take_in_guests();
  if (has_burst()) {
    close_burst();
    last_ = none;
  }
  mark();
  for (std::uint32_t size = 0; size < marked_.size(); ++size) {
    const std::int64_t messages = std::exchange(marked_[size], 0);
    for (std::size_t i = 0; i < links_.size() && messages > 0; ++i) {
      const LinkCounts& one = facts_->lone(size).counts[i];
      counts_[i].add({one.bytes * messages, one.messages * messages, one.busy * messages, one.peak_queue});
    }
  }
  std::vector<LinkCounts> counts(links_.size());
  counts.swap(counts_);
  return counts;
}

// Puts the last message or burst aside.
void RingPath::keep_last() {
  if (kept_.is_empty()) kept_.busy = has_burst() ? before_ : std::vector<BusyPeriod>(links_.size());
  if (!has_burst()) {
    kept_.posted.push_back({last_at_, facts_->bytes(last_)});
    --passed_[last_];
  } else {
    kept_.posted.insert(kept_.posted.end(), burst_.begin(), burst_.end());
    kept_.guests.insert(kept_.guests.end(), burst_guests_.begin(), burst_guests_.end());
  }
  burst_.clear();
  burst_guests_.clear();
  last_ = none;
}

// All of the last message or burst.
bool RingPath::is_over() const {
  if (last_delivery_ >= end_ && (last_ != none || !burst_.empty())) return false;
  return burst_guests_.empty() || busy().back().end(tables_->rate(links_.back())) < end_;
}

Time RingPath::send_until(Time at, std::uint32_t size, Time end) {
  end_ = end;
  const bool any = last_ != none || has_burst();
  if (at >= clear_at_ && any && (!kept_.is_empty() || !is_over())) keep_last();
  return last_delivery_ = send(at, size);
}

RingPath::UnderWay RingPath::take_last(Time end) {
  end_ = end;
  const bool any = last_ != none || has_burst();
  if (any && (!kept_.is_empty() || !is_over())) keep_last();
  take_in_guests();
  if (has_burst() && (!kept_.is_empty() || !is_over())) keep_last();
  end_ = never;
  UnderWay last;
  std::swap(last, kept_);
  if (last.is_empty()) last.busy = busy();
  return last;
}

}  // namespace tessera::sim
