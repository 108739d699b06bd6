// A collective, step by step: all sends are posted, all receives awaited, received data is added, then comes the next
// step.
#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/sim/execution/channel.hpp"
#include "tessera/sim/execution/device.hpp"

namespace tessera::sim {

using program::Activity;
using Phase = CollectiveRun::Phase;

bool Device::begin_collective(Stream& stream, const program::Instruction& instruction) {
  const program::Program& program = *environment_->program;
  const program::Collective& collective = program.collectives[instruction.a];
  const program::Group& group = program.groups[own_program().groups[collective.group_slot]];
  CollectiveRun& run = stream.collective;
  run.call = {&collective, ranks_[collective.group_slot], static_cast<std::uint32_t>(group.members.size()), &group,
              environment_->machine};
  run.algorithm = program::collective_algorithms()[collective.algorithm].get();
  run.step = 0;
  run.steps = run.algorithm->steps(run.call);
  run.phase = Phase::post;
  stream.since = run.waited_until = stream.clock;
  return go_on_with_collective(stream);
}

bool Device::go_on_with_collective(Stream& stream) {
  CollectiveRun& run = stream.collective;
  while (true) {
    switch (run.phase) {
      case Phase::post:
        if (run.step == run.steps) {
          end_collective(stream);
          return true;
        }
        if (!reach_clock(stream)) return false;
        run.phase = Phase::receive;
        if (!post_step(stream)) return false;
        break;
      case Phase::receive:
        stream.clock = time_after(std::max(stream.clock, context_->now()), costs_->reduction(run.reduce));
        run.phase = run.wait_sends ? Phase::depart : Phase::post;
        ++run.step;
        break;
      case Phase::depart:
        if (!step_departed(stream)) return false;
        run.phase = Phase::post;
        break;
      case Phase::none:
        throw InternalError("a collective goes on that has not begun");
    }
  }
}

// True when all messages of the step are here already.
bool Device::post_step(Stream& stream) {
  CollectiveRun& run = stream.collective;
  const program::Group& group = *run.call.group;
  program::Step& step = *environment_->step;
  run.algorithm->step(run.call, run.step, step);
  const program::GroupId id = own_program().groups[run.call.collective->group_slot];
  run.reduce = step.reduce;
  run.wait_sends = step.wait_sends;
  stream.missing = 0;
  const Time waited_until = run.waited_until;  // what is sent depends on the steps before, not on this one's receives
  for (const program::Transfer& transfer : step.receives) {
    bytes_received_ += transfer.bytes;
    ++messages_received_;
    stream.in_hint =
        mailboxes_.find(group.members[transfer.peer], collective_channel(id, transfer.lane), stream.in_hint);
    if (const auto early = mailboxes_.take(stream.in_hint, stream.index)) {
      run.waited_until = std::max(run.waited_until, *early);
    } else {
      ++stream.missing;
    }
  }
  ++stream.batch;
  stream.batch_left = 0;
  for (const program::Transfer& transfer : step.sends) {
    post(stream, group.members[transfer.peer], collective_channel(id, transfer.lane), transfer.bytes, stream.batch,
         waited_until);
  }
  if (stream.missing > 0) stream.state = StreamState::messages;
  return stream.missing == 0;
}

// True when the sends of the step have left the device.
bool Device::step_departed(Stream& stream) {
  const Time left = departure(stream, stream.batch);
  if (left <= context_->now()) {
    stream.clock = std::max(stream.clock, left);
    return true;
  }
  stream.state = StreamState::departures;
  if (left == never) {
    departures_awaited_ = true;
  } else {
    wake_at(stream, left);
  }
  return false;
}

void Device::end_collective(Stream& stream) {
  CollectiveRun& run = stream.collective;
  run.phase = Phase::none;
  const program::Instruction& instruction = *present(stream);
  const Time waited_until = std::min(run.waited_until, stream.clock);
  spend(stream, instruction, Activity::waiting, stream.since, waited_until);
  spend(stream, instruction, instruction.activity, waited_until, stream.clock);
  const program::Collective& collective = *run.call.collective;
  results::CollectiveRow key;
  key.label = instruction.label;
  key.kind = static_cast<std::uint16_t>(collective.kind);
  key.algorithm = static_cast<std::uint16_t>(collective.algorithm);
  key.group_size = run.call.size;
  environment_->collectives->add(key, collective.bytes, stream.clock - stream.since, waited_until - stream.since);
}

}  // namespace tessera::sim
