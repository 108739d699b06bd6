// Operators and messages of a device that share its memory's bandwidth.
#include <algorithm>

#include "sim/execution/device.hpp"

namespace tessera::sim {

bool Device::is_line_busy() const {
  return memory_ != nullptr ? memory_->operators().is_busy() : state_.engine->is_busy();
}

const ComputeJob& Device::line_job() const {
  return memory_ != nullptr ? memory_->operators().job() : state_.engine->job();
}

// Behind what stands in line; alone, it begins now.
void Device::queue(const ComputeJob& job) {
  const bool is_first = !is_line_busy();
  if (memory_ != nullptr) {
    memory_->compute(job, context().now());
  } else {
    state_.engine->queue(job, *shared_.costs);
    static_cast<void>(state_.engine->begin_next(context().now()));
    static_cast<void>(state_.engine->all_end());  // within the range of time
  }
  if (is_first) state_.streams[job.stream].clock = context().now();
}

void Device::go_on_with_memory() {
  if (memory_ != nullptr) memory_->go_on(context().now(), *this);
}

// In events of the device's own alone: what others send at the same time comes before or after all of it, in the order
// of components, however far ahead it is known.
void Device::tell_of_memory() {
  if (memory_ == nullptr) return;
  memory_->tell(*this);
  if (config_.shares_compute) return;
  for (Stream& stream : state_.streams) {
    if (stream.state == StreamState::computes && !computes_ahead(stream)) handling().ready.push_back(stream.index);
  }
}

void Device::call_back_memory() {
  if (memory_ == nullptr) return;
  memory_->withhold_late(*this);
  node_.flush(context(), handling().source);
  const auto computes = [](const Stream& stream) { return stream.state == StreamState::computes; };
  const Time due =
      memory_->has_told_all() ? memory_->due(std::ranges::any_of(state_.streams, computes)) : context().now();
  MemoryCall& call = state_.memory_call;
  if (due == never || (call.at != never && call.at <= due)) return;
  call.at = std::max(due, context().now());
  context().schedule(call.at, MemoryWake{++call.token});
}

// Whether there is anything to move.
bool Device::begin_addition(Stream& stream) {
  CollectiveRun& run = stream.collective;
  const std::int64_t traffic = shared_.costs->reduction_traffic(run.reduce);
  if (traffic == 0) return false;
  memory_->add(stream.index, traffic, context().now());
  run.phase = CollectiveRun::Phase::add;
  stream.state = StreamState::adds;
  return true;
}

void Device::added(std::uint32_t index) {
  Stream& stream = stream_at(index);
  stream.clock = context().now();
  handling().ready.push_back(index);
}

void Device::leaves_memory(const OwnMessage& message, std::uint32_t port) {
  std::uint32_t hint = stream_at(message.stream).out_hint;
  Outboxes::Box& box = outbox(message.destination, message.name.channel, hint);
  box.latest = node_.post(context(), port, message, box.latest);
}

void Device::withhold_last(const OwnMessage& message, std::uint32_t port) {
  std::uint32_t hint = stream_at(message.stream).out_hint;
  node_.withhold_last(context(), port, outbox(message.destination, message.name.channel, hint).latest);
}

void Device::written(const MessageName& name, Time waited_until) { on_delivered({name, 0, waited_until}); }

bool Device::packets_come(const Segment& segment) { return memory_->come(segment, context().now()); }

bool Device::packets_amended(const Amend& amend) { return memory_->amend(amend); }

void Device::job_over(std::uint32_t index) {
  Stream& stream = state_.streams[index];
  ++stream.launched;
  handling().ready.push_back(index);
}

}  // namespace tessera::sim
