// What a device has to tell when the run is over.
#include <algorithm>

#include "sim/execution/channel.hpp"
#include "sim/execution/device.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

std::string size_text(std::int64_t bytes) { return config::format_quantity(bytes, config::Unit::bytes); }

/// "gpu 2, gpu 5 and 3 more"
std::string senders_text(const std::vector<Mailboxes::Awaited>& awaited, const machine::Machine& machine) {
  constexpr std::size_t most = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, awaited.size()); ++i) {
    text += (i > 0 ? ", " : "") + machine.node_name(awaited[i].sender);
  }
  return awaited.size() > most ? text + " and " + std::to_string(awaited.size() - most) + " more" : text;
}

}  // namespace

void Device::refuse_time(Stream& stream) const {
  const program::Program& program = *environment_->program;
  std::string what;
  if (const program::Instruction* instruction = present(stream)) {
    const bool computes = instruction->op == program::Op::compute;
    const std::string& name = computes ? program.operators[instruction->a].name : program.labels[instruction->label];
    what = (computes ? "operator \"" : "\"") + name + "\" on ";
  }
  what += environment_->machine->node_name(self_) + ", begun at " +
          config::format_rounded(stream.clock, config::Unit::time);
  throw InfeasibleError(BeyondTimeError::text(what));
}

Time Device::finished() const {
  Time time = 0;
  for (const Stream& stream : streams_) time = std::max(time, stream.clock);
  return time;
}

std::vector<std::string> Device::waits() const {
  std::vector<std::string> texts;
  for (const Stream& stream : streams_) {
    if (stream.state != StreamState::done) texts.push_back(wait_of(stream));
  }
  return texts;
}

// The first one that has not ended.
const Stream& Device::strand_of(const Stream& stream) const {
  for (const auto& strand : strands_) {
    if (strand->parent == stream.index && strand->state != StreamState::done) return *strand;
  }
  throw InternalError("a stream waits for strands that have ended");
}

std::string Device::wait_of(const Stream& stream) const {
  const machine::Machine& machine = *environment_->machine;
  std::string text = machine.node_name(self_);
  if (stream.index > 0) text += " stream " + std::to_string(stream.index);
  text += " waits since " + config::format_quantity(stream.since, config::Unit::time) + " ";
  const Frame& frame = stream.frames.back();
  const program::Instruction& instruction = frame.code[frame.next];
  const Stream& waiting = stream.state == StreamState::strands ? strand_of(stream) : stream;
  const auto awaited = mailboxes_.awaited(waiting.index);
  switch (waiting.state) {
    case StreamState::message:
      return text + "for " + size_text(instruction.bytes) + " from " + senders_text(awaited, machine) + " on channel " +
             std::to_string(instruction.b);
    case StreamState::messages: {
      const CollectiveRun& run = waiting.collective;
      return text + "in the " + program::name_of(run.call.collective->kind) + " of " +
             size_text(run.call.collective->bytes) + " over " + std::to_string(run.call.size) + " devices (step " +
             std::to_string(run.step + 1) + " of " + std::to_string(run.steps) + ") for " +
             senders_text(awaited, machine);
    }
    case StreamState::kernel:
      return text + "in a kernel for " + gpu_of(stream).gpu().run().waits_for();
    case StreamState::event:
      return text + "for event " + std::to_string(instruction.a) + ", raised " +
             std::to_string(events_[instruction.a]) + " of " + std::to_string(instruction.count) + " times";
    default:
      return text + "for its messages to leave";
  }
}

void Device::collect(Time iteration_time, results::RunResults& results) const {
  if (streams_.empty()) return;
  results::DeviceRow row;
  row.device = self_;
  row.node = static_cast<std::uint32_t>(environment_->machine->places[self_].node);
  row.activity.assign(time_.by_activity.begin(), time_.by_activity.end());
  row.activity[static_cast<std::size_t>(program::Activity::idle)] += iteration_time - streams_[0].clock;
  row.flops = flops_;
  row.bytes_sent = bytes_sent_;
  row.bytes_received = bytes_received_;
  row.messages = messages_received_;
  row.peak_memory = memory_.peak;
  row.peak_memory_time = memory_.peak_time;
  row.finished = finished();
  results.device_rows.push_back(std::move(row));
  for (std::size_t category = 0; category < memory_.level.size(); ++category) {
    results.memory_rows.push_back(
        {self_, static_cast<std::uint16_t>(category), memory_.at_peak[category], memory_.category_peak[category]});
  }
  collect_kernels(results);
  results.intervals.insert(results.intervals.end(), intervals_.begin(), intervals_.end());
  results.memory_changes.insert(results.memory_changes.end(), memory_changes_.begin(), memory_changes_.end());
}

}  // namespace tessera::sim
