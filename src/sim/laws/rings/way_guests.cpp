// Single packets of others that come to the last link of a way among its messages: these go on as a law.
#include <algorithm>

#include "sim/laws/rings/ring_way.hpp"
#include "sim/laws/rings/trial_ports.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {

WayPorts::Announced RingWay::let_pass(const UnderWay& under_way, const Guest& guest) const {
  std::vector<Guest> guests = under_way.guests;
  guests.push_back(guest);
  return TrialPorts(*tables_, links_, under_way.busy, short_ends(), own_left()).let_pass(under_way.posted, guests);
}

void RingWay::add_guest(const Guest& guest) {
  rest().guests.push_back(guest);
  state_.is_among = true;
}

// Where guests may come before it or while it passes.
Time RingWay::send_among(Time at, std::uint32_t size) {
  take_in_before(at);
  Rest& rest = this->rest();
  Time delivered = 0;
  if (at >= state_.clear_at) {
    put_away();
    delivered = send_alone(at, size);
  } else if (rest.now.guests.empty()) {
    delivered = send_behind(at, size);
  } else {
    rest.now.burst.push_back({at, facts_->bytes(size)});
    state_.is_in_burst = true;
    delivered = pass_again();
  }
  while (rest.next_guest < rest.guests.size() &&
         rest.guests[rest.next_guest].at.time <= busy().back().end(tables_->rate(links_.back()))) {
    join_burst(rest.guests[rest.next_guest++]);
    delivered = pass_again();
  }
  state_.is_among = rest.next_guest < rest.guests.size() || !rest.now.guests.empty();
  return delivered;
}

void RingWay::take_in_guests() {
  if (state_.rest.is_made()) take_in_before(never);
}

// Guests that come to the last link before what is posted at `at` can.
void RingWay::take_in_before(Time at) {
  Rest& rest = this->rest();
  while (rest.next_guest < rest.guests.size()) {
    const Time as_if_posted = rest.guests[rest.next_guest].at.time - facts_->latency_to_last();
    if (as_if_posted >= at) return;
    if (as_if_posted >= state_.clear_at) {  // all is idle
      put_away();
      state_.last = none;
      rest.now.busy = idle();
    }
    join_burst(rest.guests[rest.next_guest++]);
    static_cast<void>(pass_again());
  }
}

void RingWay::join_burst(const Guest& guest) {
  begin_burst();
  state_.last = none;
  rest().now.known = none;
  rest().now.guests.push_back(guest);
}

// Of all of the burst, when the last message is delivered.
Time RingWay::pass_again() {
  try {
    Bursts& now = rest().now;
    TrialPorts trial(*tables_, links_, now.before, short_ends(), own_left());
    const Time delivered = trial.pass(now.burst.all(), now.guests);
    now.busy = trial.busy();
    state_.clear_at = facts_->clear_behind(now.busy);
    return delivered;
  } catch (const BeyondTimeError&) {
    return never;  // as of lone messages
  }
}

// What is behind it finds all links idle.
void RingWay::put_away() {
  if (state_.last == none && !has_burst()) return;
  if (has_kept() || !is_over()) return keep_last();
  if (has_burst()) close_burst();
}

}  // namespace tessera::sim
