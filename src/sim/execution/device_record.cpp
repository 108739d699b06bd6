// What a device writes down of its time, where a timeline is recorded.
#include "sim/execution/device.hpp"

namespace tessera::sim {

using program::Activity;
using program::Instruction;
using program::Op;

// A stream beside the main one that waits for a signal does nothing: what it waits for shows where it is done.
void Device::record(const Stream& stream, const Instruction& instruction, Activity activity, Time begin, Time end) {
  if (instruction.op == Op::wait && stream.index > 0) return;
  results::Interval& one = shared_.record->make().intervals_of(stream.index).emplace_back();
  one.device = config_.self;
  one.stream = static_cast<std::uint16_t>(stream.index);
  one.label = instruction.label;
  one.activity = static_cast<std::uint16_t>(activity);
  one.begin = begin;
  one.end = end;
  const MicroBatch batch = micro_batch_of(stream);
  one.micro_batch = batch.number;
  one.pass = batch.pass;
  if (instruction.op == Op::send || instruction.op == Op::receive) {
    one.bytes = instruction.bytes;
    one.peer = static_cast<std::int32_t>(own_program().peers[instruction.a]);
    one.channel = static_cast<std::int32_t>(instruction.b);
  } else if (instruction.op == Op::collective) {
    const program::Collective& collective = program().collectives[instruction.a];
    one.bytes = collective.bytes.value();
    one.group = static_cast<std::int32_t>(own_program().groups[collective.group_slot]);
  } else if (instruction.op == Op::kernel) {
    const program::Kernel& kernel = program().kernels[instruction.a];
    if (const auto* copy = std::get_if<program::CopyKernel>(&kernel.work)) one.bytes = copy->bytes;
    one.group = static_cast<std::int32_t>(own_program().groups[kernel.group_slot]);
  }
}

// Its end at this device is the interval that was recorded last, or one of no length. Messages of a sender, receiver
// and channel are received in the order in which they are sent: their numbers are the same at both ends.
void Device::record_message(const Stream& stream, const Instruction& instruction, Time begin, Time end) {
  if (begin == end) record(stream, instruction, instruction.activity, end, end);
  DeviceRecord& written = shared_.record->make();
  results::Interval& one = written.intervals_of(stream.index).back();
  const bool sends = instruction.op == Op::send;
  one.end_of_message = sends ? results::MessageEnd::sent : results::MessageEnd::taken;
  one.message = static_cast<std::int32_t>(
      (sends ? written.sent : written.taken)[{own_program().peers[instruction.a], instruction.b}]++);
}

// Of the innermost pass that the stream is in.
MicroBatch Device::micro_batch_of(const Stream& stream) const {
  const auto& passes = shared_.record->get().passes;
  if (passes.empty()) return {};
  for (std::size_t depth = stream.frames.size(); depth-- > 1;) {
    const std::uint32_t pass = pass_of(program(), stream.frames, depth);
    if (pass == 0) continue;
    const std::int64_t number = passes.at({stream.index, pass}) - stream.frames[depth].repeats;
    return {static_cast<std::int32_t>(number), static_cast<std::uint16_t>(pass)};
  }
  return {};
}

}  // namespace tessera::sim
