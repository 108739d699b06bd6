// A collective, step by step: all sends are posted, all receives awaited, received data is added, then comes the next
// step.
#include <algorithm>

#include "sim/execution/channel.hpp"
#include "sim/execution/device.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {

using program::Activity;
using Phase = CollectiveRun::Phase;

bool Device::begin_collective(Stream& stream, const program::Instruction& instruction) {
  if (config_.shares_cores && !reach_clock(stream)) return false;
  const std::uint32_t slot = program().collectives[instruction.a].group_slot;
  CollectiveRun& run = stream.collective;
  run.index = instruction.a;
  run.group = own_program().groups[slot];
  run.rank = config_.ranks[slot];
  run.strand = 0;
  const program::CollectiveCall call = environment().lowerings->call(run.index, run.group, run.rank);
  run.lowering = call.lowering;
  run.step = 0;
  run.steps = program::algorithm_of(call).steps(call);
  run.strands = program::algorithm_of(call).strands(call);
  run.phase = Phase::post;
  stream.since = run.waited_until = stream.clock;
  stream.clock = time_after(stream.clock, run.lowering.wire.start);
  if (config_.shares_cores) {
    end_jobs();
    state_.engine->take(taken_by(run), *shared_.costs, context().now());
    follow_job();
  }
  return go_on_with_collective(stream);
}

program::CollectiveCall Device::call_of(const CollectiveRun& run) const {
  const program::Group& group = program().groups[run.group];
  return {&program().collectives[run.index],
          run.rank,
          static_cast<std::uint32_t>(group.members.size()),
          &group,
          environment().machine,
          run.lowering,
          run.strand};
}

// Its kernel holds cores and memory bandwidth from its beginning to its end, whether it waits or not.
Taken Device::taken_by(const CollectiveRun& run) const {
  if (program().groups[run.group].members.size() < 2) return {};
  return {program().channels, run.lowering.memory_rate.value()};
}

// Each strand goes on by itself; the stream waits for all.
bool Device::begin_strands(Stream& stream) {
  CollectiveRun& run = stream.collective;
  stand_before_strands(stream);
  for (std::uint32_t i = 0; i < run.strands; ++i) {
    Stream& strand = strand_of(stream.index, i);
    begin_strand(stream, strand, i);
    run_strand(strand);
  }
  if (run.strands_left == 0) return go_on_with_collective(stream);
  stream.state = StreamState::strands;
  return false;
}

void Device::stand_before_strands(Stream& stream) const {
  CollectiveRun& run = stream.collective;
  run.strands_left = run.strands;
  run.ended = stream.clock;
  run.phase = Phase::strands;
}

void Device::begin_strand(const Stream& stream, Stream& strand, std::uint32_t number) const {
  strand.clock = strand.since = stream.clock;
  strand.collective = stream.collective;
  strand.collective.phase = Phase::post;
  strand.collective.strand = number;
  const program::CollectiveCall call = call_of(strand.collective);
  strand.collective.steps = program::algorithm_of(call).steps(call);
}

// Each stream has its own ones: what they have sent is the stream's, also when they have ended.
Stream& Device::strand_of(std::uint32_t parent, std::uint32_t number) {
  for (Stream& strand : state_.strands) {
    if (strand.parent == parent && number-- == 0) return strand;
  }
  while (true) {
    Stream& strand = state_.strands.emplace_back();
    strand.index = config_.streams + static_cast<std::uint32_t>(state_.strands.size() - 1);
    strand.parent = parent;
    strand.state = StreamState::done;
    if (number-- == 0) return strand;
  }
}

void Device::run_strand(Stream& strand) {
  strand.state = StreamState::runs;
  if (!go_on_with_collective(strand)) return;
  strand.state = StreamState::done;
  Stream& parent = state_.streams[strand.parent];
  end_strand(parent, strand);
  if (parent.collective.strands_left == 0 && parent.state == StreamState::strands)
    handling().ready.push_back(parent.index);
}

void Device::end_strand(Stream& stream, const Stream& strand) const {
  CollectiveRun& run = stream.collective;
  run.ended = std::max(run.ended, strand.clock);
  run.waited_until = std::max(run.waited_until, strand.collective.waited_until);
  --run.strands_left;
}

bool Device::go_on_with_collective(Stream& stream) {
  CollectiveRun& run = stream.collective;
  while (true) {
    switch (run.phase) {
      case Phase::post:
        if (run.step == run.steps) {
          if (stream.parent == no_stream) return end_collective(stream);
          run.phase = Phase::none;
          return true;
        }
        if (!reach_clock(stream)) return false;
        if (run.step == 0 && is_taken_over(stream)) {
          if (stream.state == StreamState::taken_over) return false;
          break;
        }
        if (run.strands > 1 && stream.parent == no_stream) return begin_strands(stream);
        run.phase = Phase::receive;
        if (!post_step(stream)) return false;
        break;
      case Phase::receive:  // strands share the memory
        if (memory_ != nullptr && begin_addition(stream)) return false;
        stream.clock = time_after(std::max(stream.clock, context().now()),
                                  memory_ != nullptr ? 0 : shared_.costs->reduction(run.reduce * run.strands));
        [[fallthrough]];
      case Phase::add:
        stream.clock = time_after(stream.clock, run.pause);
        run.phase = run.wait_sends ? Phase::depart : Phase::post;
        ++run.step;
        break;
      case Phase::depart:
        if (!step_departed(stream)) return false;
        run.phase = Phase::post;
        break;
      case Phase::taken_over:
      case Phase::strands:
        stream.clock = run.ended;
        return end_collective(stream);
      case Phase::none:
        throw InternalError("a collective goes on that has not begun");
    }
  }
}

// True when all messages of the step are here already.
bool Device::post_step(Stream& stream) {
  CollectiveRun& run = stream.collective;
  const program::CollectiveCall call = call_of(run);
  const program::Group& group = *call.group;
  program::Step& step = *environment().step;
  program::algorithm_of(call).step_on_wire(call, run.step, step);
  run.reduce = step.reduce;
  run.pause = step.pause;
  run.wait_sends = step.wait_sends;
  stream.missing = 0;
  const Time waited_until = run.waited_until;  // what is sent depends on the steps before, not on this one's receives
  for (const program::Transfer& transfer : step.receives) {
    state_.bytes_received += transfer.bytes;
    ++state_.messages_received;
    stream.in_hint = state_.mailboxes.find(group.members[transfer.peer], collective_channel(run.group, transfer.lane),
                                           stream.in_hint);
    if (const auto early = state_.mailboxes.take(stream.in_hint, stream.index)) {
      run.waited_until = std::max(run.waited_until, *early);
    } else {
      ++stream.missing;
    }
  }
  ++stream.batch;
  stream.batch_left = 0;
  for (const program::Transfer& transfer : step.sends) {
    post(stream, group.members[transfer.peer], collective_channel(run.group, transfer.lane), transfer.bytes,
         stream.batch, waited_until);
  }
  if (stream.missing > 0) stream.state = StreamState::messages;
  return stream.missing == 0;
}

// True when the sends of the step have left the device.
bool Device::step_departed(Stream& stream) {
  const Time left = departure(stream, stream.batch);
  if (left <= context().now()) {
    stream.clock = std::max(stream.clock, left);
    return true;
  }
  await_departure(stream, left);
  return false;
}

// False when its last reduction is not over yet, where somebody looks at that.
bool Device::end_collective(Stream& stream) {
  CollectiveRun& run = stream.collective;
  if (config_.shares_cores) {
    if (!reach_clock(stream)) return false;
    end_jobs();
    state_.engine->give_back(taken_by(run), *shared_.costs, context().now());
    follow_job();
  }
  if (environment().takeover != nullptr) environment().takeover->leave(run);
  run.phase = Phase::none;
  const program::Instruction& instruction = *present(stream);
  const Time waited_until = std::min(run.waited_until, stream.clock);
  spend(stream, instruction, Activity::waiting, stream.since, waited_until);
  spend(stream, instruction, instruction.activity, waited_until, stream.clock);
  const program::Collective& collective = program().collectives[run.index];
  results::CollectiveRow key;
  key.label = instruction.label;
  key.kind = static_cast<std::uint16_t>(collective.kind);
  key.algorithm = static_cast<std::uint16_t>(run.lowering.algorithm);
  key.group_size = static_cast<std::uint32_t>(program().groups[run.group].members.size());
  state_.collectives.add(key, collective.bytes.value(), stream.clock - stream.since, waited_until - stream.since);
  return true;
}

}  // namespace tessera::sim
