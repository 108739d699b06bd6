// The host of a device: a thread that launches one kernel after another into a queue, and waits for the device where
// the program says so.
#include <algorithm>

#include "sim/execution/device.hpp"

namespace tessera::sim {

using program::Instruction;
using program::Op;

namespace {

/// How often the host launches something for it.
std::int64_t launches_of(const Instruction& instruction) {
  if (instruction.op == Op::compute) return instruction.count;
  return instruction.op == Op::send || instruction.op == Op::collective || instruction.op == Op::kernel ? 1 : 0;
}

}  // namespace

// True when the host has launched it, and the stream's clock is no earlier. Operators that an instruction repeats
// follow each other without waiting; the next instruction waits for all their launches.
bool Device::issue(Stream& stream, const Instruction& instruction) {
  const std::int64_t launches = launches_of(instruction);
  if (launches == 0) return true;
  if (instruction.op == Op::compute && program().operators[instruction.a].kind == workload::OperatorKind::host) {
    stream.host_waits = stream.is_issued = true;
    return true;
  }
  const Time interval = program().issue_interval;
  // While jobs stand in line the stream's clock is the least that it can be.
  if (stream.host_waits) {
    if (computes_ahead(stream) && !computing_is_over(stream)) return false;
    stream.issued = stream.clock;
    stream.host_waits = false;
  } else if (instruction.op != Op::compute) {
    stream.issued = std::max(stream.issued, stream.clock - repeated(program::most_launches, interval));
  }
  const Time at = time_after(stream.issued, interval);
  if (at > stream.clock) {
    if (computes_ahead(stream) && !computing_is_over(stream)) return false;
    if (at > stream.clock) {
      spend(stream, instruction, program::Activity::idle, stream.clock, at);
      stream.clock = at;
    }
  }
  stream.issued = time_after(stream.issued, repeated(launches, interval));
  stream.is_issued = true;
  return true;
}

}  // namespace tessera::sim
