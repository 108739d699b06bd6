#include "tessera/sim/memory/channel.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

std::size_t direction_of(const MemoryRequest& request) { return request.op == MemoryOp::read ? 0 : 1; }

/// The longest that one transaction can take from its turn to its data: nothing in it is longer.
double longest_service(const ChannelSpec& spec) {
  const double bursts = std::max(spec.ccdl, spec.ccdwl) * static_cast<double>(spec.block_bursts + 1);
  const double rows = static_cast<double>(spec.row_time) * 64 * spec.block_bursts;  // a row is a byte at least
  const double clocks = 2 * bursts + rows + spec.turnaround;
  return clocks * static_cast<double>(spec.clock_period) + static_cast<double>(spec.latency);
}

const ChannelSpec& checked(const ChannelSpec& spec) {
  if (spec.clock_period <= 0) throw InputError("a memory channel needs a clock period of at least 1 ps");
  if (spec.ccdl == 0) throw InputError("a burst of a memory channel takes at least 1 clock (ccdl)");
  if (spec.bank_groups == 0) throw InputError("a memory channel needs at least 1 bank group");
  if (spec.group_bursts == 0) throw InputError("at least 1 burst in a row lies in one bank group");
  if (spec.block_bursts == 0) throw InputError("a block of memory holds at least 1 burst");
  if (spec.queue == 0) throw InputError("the DRAM queue of a memory channel holds at least 1 burst");
  if (spec.latency < 0) throw InputError("the latency of a memory channel is negative");
  if (longest_service(spec) > static_cast<double>(longest_transaction))
    throw InputError("a transaction of a memory channel takes longer than an hour");
  return spec;
}

}  // namespace

BankGroups::BankGroups(const ChannelSpec& spec)
    : block_bursts_(spec.block_bursts),
      run_(spec.group_bursts),
      burst_(spec.ccdl * spec.clock_period),
      after_update_(spec.ccdwl * spec.clock_period),
      ready_(spec.bank_groups, 0) {}

Time BankGroups::serve(const MemoryRequest& request, Time earliest) {
  std::uint32_t left = bursts_of(request.bytes);
  const bool update = request.op == MemoryOp::update;
  if (!update && all_ready_ <= earliest) return earliest + left * burst_;
  const Time apart = update ? std::max(burst_, after_update_) : burst_;
  BlockId at = request.block * block_bursts_;
  while (left > 0) {  // one group after the other
    const auto here = static_cast<std::uint32_t>(std::min<BlockId>(left, run_ - at % run_));
    Time& ready = ready_[at / run_ % ready_.size()];
    const Time last = std::max(earliest, ready) + (here - 1) * apart;
    if (update) ready = last + after_update_;
    all_ready_ = std::max(all_ready_, ready);
    earliest = last + burst_;
    at += here;
    left -= here;
  }
  return earliest;
}

void DramQueue::push(const MemoryRequest& request) {
  const std::size_t direction = direction_of(request);
  if (!directed_) {  // the first one finds a bus that need not turn
    directed_ = true;
    direction_ = direction;
  }
  const std::uint32_t bursts = bursts_of(request.bytes);
  waiting_[direction].push({request, entered_[1 - direction]});
  entered_[direction] += bursts;
  occupancy_ += bursts;
}

/// The bursts that have overtaken a request are those of the other direction
/// that were taken, less those that were there before it: since each direction
/// keeps its order, no request needs a count of its own. Where the oldest of
/// the bus's direction is older, this difference is negative.
bool DramQueue::turns() const {
  const RingBuffer<Entry>& same = waiting_[direction_];
  const RingBuffer<Entry>& opposite = waiting_[1 - direction_];
  if (same.empty()) return true;
  return !opposite.empty() && (taken_[direction_] >= opposite.front().before + max_bypass_ || depends());
}

/// Whether an older request of the other direction touches the same block as
/// the oldest one of the bus's direction. Those that are older are the first of
/// the other direction, up to the bursts that had entered before it.
bool DramQueue::depends() const {
  const Entry& next = waiting_[direction_].front();
  const RingBuffer<Entry>& opposite = waiting_[1 - direction_];
  std::uint64_t entered = taken_[1 - direction_];
  for (std::size_t i = 0; i < opposite.size() && entered < next.before; ++i) {
    if (opposite[i].request.block == next.request.block) return true;
    entered += bursts_of(opposite[i].request.bytes);
  }
  return false;
}

DramQueue::Taken DramQueue::take() {
  Taken taken;
  taken.turned = turns();
  if (taken.turned) direction_ = 1 - direction_;
  taken.request = waiting_[direction_].pop().request;
  const std::uint32_t bursts = bursts_of(taken.request.bytes);
  taken_[direction_] += bursts;
  occupancy_ -= bursts;
  return taken;
}

void refuse(const ChannelSpec& spec) { static_cast<void>(checked(spec)); }

MemoryChannel::MemoryChannel(const ChannelSpec& spec, ArbitrationPointer policy, ChannelSink& sink)
    : spec_(checked(spec)),
      turnaround_(spec.turnaround * spec.clock_period),
      row_time_(spec.row_time * spec.clock_period),
      longest_service_(static_cast<Time>(longest_service(spec)) + 1),
      policy_(std::move(policy)),
      sink_(&sink),
      queue_(spec.max_bypass),
      groups_(spec) {}

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
  if (free_at_ <= now && !queue_.empty()) {
    serve(now);
    look_again = fill(now);
  }
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
  Stream& stream = at(name);
  observed_until(now);
  const MemoryRequest request = stream.requests.pop();
  stream.bursts -= bursts_of(request.bytes);
  stream.waiting_since = now;
  queue_.push(request);
  policy_->entered(name);
  sink_->enqueued(request, now);
}

void MemoryChannel::serve(Time now) {
  if (now > latest - longest_service_) throw_beyond_time();  // so that no sum below has to be looked at
  observed_until(now);
  const DramQueue::Taken taken = queue_.take();
  const MemoryRequest& request = taken.request;
  // An idle bus turns in advance: what counts is the distance between the
  // bursts.
  const Time start = std::max(now, taken.turned ? free_at_ + turnaround_ : free_at_);
  // Rows are opened while others move their data.
  free_at_ = std::max(groups_.serve(request, start), start + runs_.rows(request.block, request.bytes) * row_time_);
  const auto traffic = static_cast<std::size_t>(request.traffic);
  counts_.bytes[traffic] += request.bytes;
  ++counts_.transactions[traffic];
  counts_.busy += free_at_ - start;
  counts_.stalled += free_at_ - start - bursts_of(request.bytes) * (spec_.ccdl * spec_.clock_period);
  counts_.turnarounds += taken.turned ? 1 : 0;
  sink_->done(request, request.op == MemoryOp::read ? free_at_ + spec_.latency : free_at_);
}

/// One call for each service, and more only where the policy's choice may
/// change before the next one.
void MemoryChannel::ask(Time now, Time look_again) {
  const Time service = queue_.empty() ? never : free_at_;
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
