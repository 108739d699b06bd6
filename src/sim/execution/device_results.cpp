// What a device has to tell when the run is over.
#include <algorithm>
#include <utility>

#include "sim/execution/channel.hpp"
#include "sim/execution/device.hpp"
#include "sim/execution/memory_need.hpp"
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
  std::string what;
  if (const program::Instruction* instruction = present(stream)) {
    const bool computes = instruction->op == program::Op::compute;
    const std::string& name =
        computes ? program().operators[instruction->a].name : program().labels[instruction->label];
    what = (computes ? "operator \"" : "\"") + name + "\" on ";
  }
  what += environment().machine->node_name(config_.self) + ", begun at " +
          config::format_rounded(stream.clock, config::Unit::time);
  throw InfeasibleError(BeyondTimeError::text(what));
}

void Device::refuse_release(const Stream& stream, const program::Instruction& instruction) const {
  const std::int64_t level = state_.memory.level[instruction.b];
  throw InfeasibleError(environment().machine->node_name(config_.self) + " stream " + std::to_string(stream.index) +
                        " releases " + size_text(-level) + " of " +
                        program::name_of(program(), static_cast<program::MemoryCategory>(instruction.b)) +
                        " more than is allocated at " + config::format_quantity(stream.clock, config::Unit::time));
}

void Device::refuse_memory(const Stream& stream) const {
  const MemoryAccount& memory = state_.memory;
  const Need need{config_.self, {memory.total, memory.level, memory.total}};
  throw InfeasibleError(need_text(*environment().machine, program(), need) + ", at " +
                        config::format_quantity(stream.clock, config::Unit::time) + allow_hint);
}

Time Device::finished() const {
  Time time = 0;
  for (const Stream& stream : state_.streams) time = std::max(time, stream.clock);
  return time;
}

std::vector<std::string> Device::waits() const {
  std::vector<std::string> texts;
  for (const Stream& stream : state_.streams) {
    if (stream.state != StreamState::done) texts.push_back(wait_of(stream));
  }
  return texts;
}

// The first one that has not ended.
const Stream& Device::strand_of(const Stream& stream) const {
  for (const Stream& strand : state_.strands) {
    if (strand.parent == stream.index && strand.state != StreamState::done) return strand;
  }
  throw InternalError("a stream waits for strands that have ended");
}

std::string Device::wait_of(const Stream& stream) const {
  const machine::Machine& machine = *environment().machine;
  std::string text = machine.node_name(config_.self);
  if (stream.index > 0) text += " stream " + std::to_string(stream.index);
  text += " waits since " + config::format_quantity(stream.since, config::Unit::time) + " ";
  const Frame& frame = stream.frames.back();
  const program::Instruction& instruction = program().blocks[frame.block].code[frame.next];
  const Stream& waiting = stream.state == StreamState::strands ? strand_of(stream) : stream;
  const auto awaited = state_.mailboxes.awaited(waiting.index);
  switch (waiting.state) {
    case StreamState::message:
      return text + "for " + size_text(instruction.bytes) + " from " + senders_text(awaited, machine) + " on channel " +
             std::to_string(instruction.b);
    case StreamState::messages: {
      const CollectiveRun& run = waiting.collective;
      const program::CollectiveCall call = call_of(run);
      return text + "in the " + program::name_of(call.collective->kind) + " of " +
             size_text(call.collective->bytes.value()) + " over " + std::to_string(call.size) + " devices (step " +
             std::to_string(run.step + 1) + " of " + std::to_string(run.steps) + ") for " +
             senders_text(awaited, machine);
    }
    case StreamState::kernel:
      return text + "in a kernel for " + gpu_of(stream).gpu().run().waits_for();
    case StreamState::event:
      return text + "for event " + std::to_string(instruction.a) + ", raised " +
             std::to_string(state_.events[instruction.a]) + " of " + std::to_string(instruction.count) + " times";
    default:
      return text + "for its messages to leave";
  }
}

void Device::collect(Time iteration_time, results::RunResults& results) const {
  if (state_.streams.empty()) return;
  results::DeviceRow row;
  row.device = config_.self;
  const machine::Machine& machine = *environment().machine;
  row.node = static_cast<std::uint32_t>(machine.places[config_.self].node);
  row.kind = machine.kind(config_.self);
  row.memory_capacity = machine.spec(config_.self).memory_capacity.value();
  row.memory_reserve = machine.spec(config_.self).memory_reserve.value();
  row.activity.assign(state_.time.by_activity.begin(), state_.time.by_activity.end());
  row.activity[static_cast<std::size_t>(program::Activity::idle)] += iteration_time - state_.streams[0].clock;
  row.flops = state_.flops;
  row.bytes_sent = state_.bytes_sent;
  row.bytes_received = state_.bytes_received;
  row.messages = state_.messages_received;
  row.peak_memory = state_.memory.peak;
  row.peak_memory_time = state_.memory.peak_time;
  row.finished = finished();
  results.device_rows.push_back(std::move(row));
  for (std::size_t category = 0; category < state_.memory.level.size(); ++category) {
    results.memory_rows.push_back({config_.self, static_cast<std::uint16_t>(category), state_.memory.at_peak[category],
                                   state_.memory.category_peak[category]});
  }
  collect_kernels(results);
  if (shared_.record->is_made() && !shared_.record->get().intervals.empty())
    results.intervals.add({config_.self, std::exchange((**shared_.record).intervals, {})});
  results.memory_changes.insert(results.memory_changes.end(), shared_.record->get().memory_changes.begin(),
                                shared_.record->get().memory_changes.end());
}

}  // namespace tessera::sim
