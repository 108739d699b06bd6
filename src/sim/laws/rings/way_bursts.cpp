// Messages that a way's links were still busy for when they were posted: bursts.
#include <utility>

#include "sim/laws/rings/ring_way.hpp"
#include "sim/laws/rings/trial_ports.hpp"
#include "sim/laws/trains/service.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {

// Of the last message, if it found the links idle, and what comes behind it.
void RingWay::begin_burst() {
  if (has_burst()) return;
  Bursts& now = rest().now;
  now.known = none;
  if (now.busy.empty()) now.busy = idle();
  if (state_.last == none) {
    now.before = now.busy;
    return;
  }
  --state_.passed[state_.last];
  now.burst.push_back({state_.last_at, facts_->bytes(state_.last)});
  state_.is_in_burst = true;
  now.before.assign(links_.size(), {});
}

// Another message of the burst. False: what becomes of it is not known.
bool RingWay::find_known(Time at, std::uint32_t size) {
  Bursts& now = rest().now;
  const std::uint32_t lone = std::exchange(state_.last, none);
  if (lone == none && now.known == none) return false;
  const Time first = now.burst.front().at;
  const std::uint32_t number =
      lone != none ? facts_->behind_lone(lone, at - first, size) : facts_->behind(now.known, at - first, size);
  if (number == none) now.busy = (lone != none ? facts_->lone(lone) : facts_->burst(now.known)).busy_since(first);
  now.known = number;
  return now.known != none;
}

Time RingWay::send_behind(Time at, std::uint32_t size) {
  begin_burst();
  const bool is_known = find_known(at, size);
  Bursts& now = rest().now;
  now.burst.push_back({at, facts_->bytes(size)});
  state_.is_in_burst = true;
  if (is_known) {
    const Passage& burst = facts_->burst(now.known);
    state_.clear_at = saturating_add(now.burst.front().at, burst.clear);
    return saturating_add(now.burst.front().at, burst.delivered);
  }
  try {
    const Time delivered = pass(at, now.burst.back().bytes);
    state_.clear_at = facts_->clear_behind(now.busy);
    return delivered;
  } catch (const BeyondTimeError&) {
    return never;  // as of lone messages
  }
}

// One message after the other: a FIFO of one sender is not changed by what comes behind.
Time RingWay::pass(Time at, std::int64_t bytes) {
  std::vector<BusyPeriod>& busy = rest().now.busy;
  const std::int64_t packet = tables_->packet();
  const OwnMessage message = message_of(*tables_, bytes, 0);
  const Rate& first = tables_->rate(links_[0]);
  const Service own =
      serve_own(busy[0], at, message.packets_left, message.last_bytes, {first, links_[0], first, packet});
  busy[0] = own.after;
  std::vector<PacketTimes> arrivals{own.out};
  arrivals[0].delay(tables_->link(links_[0]).latency.value());
  for (std::size_t i = 1; i < links_.size(); ++i) {
    std::vector<PacketTimes> departures;
    for (PacketTimes& times : arrivals) {
      const ServiceRates rates{tables_->rate(links_[i]), links_[i], tables_->rate(times.rate), packet};
      while (times.count > 0) {
        const Service service = serve(busy[i], times, times.count, rates);
        busy[i] = service.after;
        departures.push_back(service.out);
        departures.back().delay(tables_->link(links_[i]).latency.value());
        times.advance(service.out.count);
      }
    }
    arrivals = std::move(departures);
  }
  return arrivals.back().last;
}

void RingWay::close_burst() {
  Bursts& now = rest().now;
  if (now.guests.empty() && now.known != none) {
    add(state_.passed_bursts, now.known, 1);
  } else if (now.guests.empty()) {
    now.add_times(facts_->counts_of(links_, {now.burst, now.before, short_ends(), own_left()}), 1);
  } else {
    TrialPorts trial(*tables_, links_, now.before, short_ends(), own_left());
    static_cast<void>(trial.pass(now.burst.all(), now.guests));
    now.add_times(trial.counts(), 1);
  }
  forget_burst();
}

void RingWay::shed() {
  if (!state_.rest.is_made() || state_.is_in_burst) return;
  const auto& [now, marked, begun, short_ends, own_left, kept, guests, next_guest] = state_.rest.get();
  if (now.is_empty() && marked.is_empty() && begun.empty() && kept.is_empty() && guests.empty()) state_.rest.forget();
}

void RingWay::Bursts::add_times(const std::vector<LinkCounts>& more, std::int64_t times) {
  counts.resize(std::max(counts.size(), more.size()));
  for (std::size_t i = 0; i < more.size() && times > 0; ++i)
    counts[i].add({more[i].bytes * times, more[i].messages * times, more[i].busy * times, more[i].peak_queue,
                   more[i].alone * times});
}

void RingWay::forget_burst() {
  if (!state_.rest.is_made()) return;
  Bursts& now = rest().now;
  now.burst.clear();
  now.guests.clear();
  now.known = none;
  state_.is_in_burst = false;
}

}  // namespace tessera::sim
