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
      queue_(spec),
      banks_(spec) {}

void MemoryChannel::push(Time now, const MemoryRequest& request) {
  if (request.bytes == 0) throw InternalError("a memory request without bytes");
  Stream& stream = at(request.stream);
  const bool was_empty = stream.requests.empty();
  stream.requests.push(request);
  stream.bursts += bursts_of(request.bytes);
  if (was_empty) {
    stream.waiting_since = now;
    step(now);
  } else if (!stepping_) {  // behind others: what keeps the head waiting still
                            // does
    count_waiting();
  }
}

void MemoryChannel::set_policy(Time now, ArbitrationPointer policy) {
  policy_ = std::move(policy);
  step(now);
}

void MemoryChannel::set_threshold(Time now, std::uint32_t bursts) {
  policy_->set_threshold(bursts);
  step(now);
}

void MemoryChannel::producer_began(Time now) {
  policy_->producer_began();
  step(now);
}

void MemoryChannel::producer_ended(Time now) {
  policy_->producer_ended();
  step(now);
}

void MemoryChannel::step(Time now) {
  if (stepping_) return;  // the step that announces goes on with what was pushed
  stepping_ = true;
  Time look_again = fill(now);
  if (serve(now)) look_again = fill(now);
  stepping_ = false;
  count_waiting();
  ask(now, look_again);
}

void MemoryChannel::count_waiting() {
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    counts_.peak_waiting[i] = std::max(counts_.peak_waiting[i], streams_[i].bursts);
  }
}

ArbitrationView MemoryChannel::view(Time now) const {
  ArbitrationView view{now, queue_.occupancy(), {}};
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const Stream& stream = streams_[i];
    if (!stream.requests.empty()) view.heads[i] = {&stream.requests.front(), stream.waiting_since};
  }
  return view;
}

bool MemoryChannel::fits(const MemoryRequest& request) const {
  return queue_.empty() || queue_.occupancy() + bursts_of(request.bytes) <= spec_.queue;
}

/// Fills the DRAM queue. When to look again though nothing happens; a chosen
/// request that does not fit holds back those behind it, so that large ones are
/// not starved by small ones.
Time MemoryChannel::fill(Time now) {
  while (queue_.occupancy() < spec_.queue) {
    const ArbitrationChoice choice = policy_->choose(view(now));
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
  queue_.push(request, now, banks_);
  policy_->entered(name);
  sink_->enqueued(request, now);
}

/// So that no sum of times has to be looked at.
void MemoryChannel::refuse_the_end_of_time(Time now) const {
  if (now > latest - longest_service_) throw_beyond_time();
}

/// Serves a request whose first burst can start now, if there is one.
bool MemoryChannel::serve(Time now) {
  if (bus_free_ > now || queue_.empty()) return false;
  refuse_the_end_of_time(now);
  const DramQueue::Next next = queue_.next(now, banks_);
  if (next.start > now) return false;
  observed_until(now);
  const auto [request, served] = queue_.take({next.bank, now}, now, banks_);
  bus_free_ = served.bus_free;
  const auto traffic = static_cast<std::size_t>(request.traffic);
  counts_.bytes[traffic] += request.bytes;
  ++counts_.transactions[traffic];
  counts_.busy += bus_free_ - now;
  counts_.turnarounds += served.turned ? 1 : 0;
  sink_->done(request, request.op == MemoryOp::read ? served.data + spec_.latency : served.data);
  return true;
}

ChannelCounts MemoryChannel::counts() const {
  ChannelCounts counts = counts_;
  counts.activations = banks_.activations();
  counts.row_hits = queue_.row_hits();
  return counts;
}

/// One call for each service, and more only where the policy's choice may
/// change before the next one.
void MemoryChannel::ask(Time now, Time look_again) {
  const Time service = queue_.empty() ? never : std::max(bus_free_, queue_.next(now, banks_).start);
  if (service != never && service_asked_ != service) {
    service_asked_ = service;
    sink_->wake(service);
  }
  if (look_again <= now) throw InternalError("a memory arbitration asks to look again in the past");
  if (look_again < service && (look_asked_ <= now || look_again < look_asked_)) {
    look_asked_ = look_again;
    sink_->wake(look_again);
  }
}

OccupancySum MemoryChannel::end_observation(Time now) {
  const OccupancySum until = observed_until(now);
  return {until.burst_time - observed_from_.burst_time, until.duration - observed_from_.duration};
}

OccupancySum MemoryChannel::observed_until(Time now) {
  observed_.burst_time += static_cast<Int128>(queue_.occupancy()) * (now - observed_.duration);
  observed_.duration = now;
  return observed_;
}

}  // namespace tessera::sim
