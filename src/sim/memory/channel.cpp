#include "sim/memory/channel.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

const ChannelSpec& checked(const ChannelSpec& spec) {
  refuse(spec);
  return spec;
}

}  // namespace

MemoryChannel::MemoryChannel(const ChannelSpec& spec, ArbitrationPointer policy, ChannelSink& sink)
    : spec_(checked(spec)),
      longest_service_(static_cast<Time>(longest_service(spec)) + 1),
      policy_(std::move(policy)),
      sink_(&sink),
      state_{{}, {}, DramQueue(spec), Banks(spec)} {}

void MemoryChannel::restore(ChannelState state, ArbitrationPointer policy) {
  state_ = std::move(state);
  policy_ = std::move(policy);
}

void MemoryChannel::push(Time now, const MemoryRequest& request) {
  if (request.bytes == 0) throw InternalError("a memory request without bytes");
  Stream& stream = at(request.stream);
  const bool was_empty = stream.requests.empty();
  stream.requests.push(request);
  stream.bursts += bursts_of(request.bytes);
  if (was_empty) {
    stream.waiting_since = now;
    step(now);
  } else if (!state_.stepping) {
    count_waiting();  // behind others: what keeps the head waiting still does
  }
}

void MemoryChannel::set_policy(Time now, ArbitrationPointer policy) {
  policy_ = std::move(policy);
  state_.arbitration = {};
  step(now);
}

void MemoryChannel::set_threshold(Time now, std::uint32_t bursts) {
  state_.arbitration.threshold = bursts;
  step(now);
}

void MemoryChannel::producer_began(Time now) {
  state_.arbitration = {state_.arbitration.latest, std::nullopt, false};
  step(now);
}

void MemoryChannel::producer_ended(Time now) {
  state_.arbitration.draining = true;
  step(now);
}

void MemoryChannel::step(Time now) {
  if (state_.stepping) return;  // the step that announces goes on with what was pushed
  state_.stepping = true;
  Time look_again = fill(now);
  if (serve(now)) look_again = fill(now);
  state_.stepping = false;
  count_waiting();
  ask(now, look_again);
}

void MemoryChannel::count_waiting() {
  for (std::size_t i = 0; i < state_.streams.size(); ++i) {
    state_.counts.peak_waiting[i] = std::max(state_.counts.peak_waiting[i], state_.streams[i].bursts);
  }
}

ArbitrationView MemoryChannel::view(Time now) const {
  ArbitrationView view{now, state_.queue.occupancy(), {}};
  for (std::size_t i = 0; i < state_.streams.size(); ++i) {
    const Stream& stream = state_.streams[i];
    if (!stream.requests.empty()) view.heads[i] = {&stream.requests.front(), stream.waiting_since};
  }
  return view;
}

bool MemoryChannel::fits(const MemoryRequest& request) const {
  return state_.queue.empty() || state_.queue.occupancy() + bursts_of(request.bytes) <= spec_.queue;
}

/// Fills the DRAM queue. When to look again though nothing happens; a chosen
/// request that does not fit holds back those behind it, so that large ones are
/// not starved by small ones.
Time MemoryChannel::fill(Time now) {
  while (state_.queue.occupancy() < spec_.queue) {
    const ArbitrationChoice choice = policy_->choose(view(now), state_.arbitration);
    if (!choice.stream || !fits(at(*choice.stream).requests.front())) return choice.look_again;
    enter(now, *choice.stream);
  }
  return never;  // full, and DRAM's next choice is the next occasion
}

void MemoryChannel::enter(Time now, MemoryStream name) {
  refuse_the_end_of_time(now);
  Stream& stream = at(name);
  observed_until(now);
  const MemoryRequest request = stream.requests.pop();
  stream.bursts -= bursts_of(request.bytes);
  stream.waiting_since = now;
  state_.queue.push(request, now, state_.banks);
  state_.arbitration.latest = name;
  sink_->enqueued(request, now);
}

/// So that no sum of times has to be looked at.
void MemoryChannel::refuse_the_end_of_time(Time now) const {
  if (now > latest - longest_service_) throw_beyond_time();
}

/// Serves a request whose first burst can start now, if there is one.
bool MemoryChannel::serve(Time now) {
  if (state_.bus_free > now || state_.queue.empty()) return false;
  refuse_the_end_of_time(now);
  const DramQueue::Next next = state_.queue.next(now, state_.banks);
  if (next.start > now) return false;
  observed_until(now);
  const auto [request, served] = state_.queue.take({next.bank, now}, now, state_.banks);
  state_.bus_free = served.bus_free;
  const auto traffic = static_cast<std::size_t>(request.traffic);
  state_.counts.bytes[traffic] += request.bytes;
  ++state_.counts.transactions[traffic];
  state_.counts.busy += state_.bus_free - now;
  state_.counts.turnarounds += served.turned ? 1 : 0;
  sink_->done(request, request.op == MemoryOp::read ? served.data + spec_.latency : served.data);
  return true;
}

ChannelCounts MemoryChannel::counts() const {
  ChannelCounts counts = state_.counts;
  counts.activations = state_.banks.activations();
  counts.row_hits = state_.queue.row_hits();
  return counts;
}

/// One call for each service, and more only where the policy's choice may
/// change before the next one.
void MemoryChannel::ask(Time now, Time look_again) {
  const Time service =
      state_.queue.empty() ? never : std::max(state_.bus_free, state_.queue.next(now, state_.banks).start);
  if (service != never && state_.service_asked != service) {
    state_.service_asked = service;
    sink_->wake(service);
  }
  if (look_again <= now) throw InternalError("a memory arbitration asks to look again in the past");
  if (look_again < service && (state_.look_asked <= now || look_again < state_.look_asked)) {
    state_.look_asked = look_again;
    sink_->wake(look_again);
  }
}

OccupancySum MemoryChannel::end_observation(Time now) {
  const OccupancySum until = observed_until(now);
  return {until.burst_time - state_.observed_from.burst_time, until.duration - state_.observed_from.duration};
}

OccupancySum MemoryChannel::observed_until(Time now) {
  state_.observed.burst_time += static_cast<Int128>(state_.queue.occupancy()) * (now - state_.observed.duration);
  state_.observed.duration = now;
  return state_.observed;
}

}  // namespace tessera::sim
