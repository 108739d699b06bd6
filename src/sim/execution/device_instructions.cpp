// One function an instruction; their meaning stands in program/program.hpp.
#include <algorithm>

#include "sim/execution/device.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {

using program::Activity;
using program::Instruction;
using program::Op;

// The instruction at which a stream stands; null when it has ended.
const Instruction* Device::present(Stream& stream) const {
  while (!stream.frames.empty()) {
    Frame& frame = stream.frames.back();
    if (frame.next < frame.size) return &program().blocks[frame.block].code[frame.next];
    if (--frame.repeats > 0) {
      frame.next = 0;
      if (stream.index == 0 && environment().loop_round.looks_at(config_.self)) tell_round(stream);
    } else {
      stream.frames.pop_back();
    }
  }
  return nullptr;
}

// Of several loops that begin a round in one event the outermost one counts.
void Device::tell_round(const Stream& stream) const {
  LoopRound& round = environment().loop_round;
  const std::size_t depth = stream.frames.size() - 1;
  if (round.is_new && round.depth <= depth) return;
  round.device = config_.self;
  round.depth = depth;
  round.block = stream.frames.back().block;
  round.is_new = true;
  context().ask_for_pause();
}

void Device::run(Stream& stream) {
  if (stream.parent != no_stream) {
    handling().at_work = &state_.streams[stream.parent];
    return run_strand(stream);
  }
  handling().at_work = &stream;
  if (stream.state == StreamState::computes) end_jobs();
  stream.state = StreamState::runs;
  if (stream.collective.phase != CollectiveRun::Phase::none) {
    if (!go_on_with_collective(stream)) return;
    go_to_next(stream);
  }
  int left = most_instructions_at_a_time;
  while (const Instruction* instruction = present(stream)) {
    if (left-- == 0) return go_on_later(stream);
    if (computes_ahead(stream) && !follows_computing(*instruction) && !computing_is_over(stream)) return;
    if (instruction->op == Op::call) {
      call(stream, *instruction);
      continue;
    }
    if (!execute(stream, *instruction)) return;
    go_to_next(stream);
  }
  if (computes_ahead(stream) && !computing_is_over(stream)) return;
  stream.state = StreamState::done;
}

// In an event at the time that the stream has reached, as if others could see what it does next.
void Device::go_on_later(Stream& stream) {
  if (computes_ahead(stream)) return wait_for_computing(stream);
  stream.state = StreamState::until_clock;
  wake_at(stream, std::max(stream.clock, context().now()));
}

void Device::go_to_next(Stream& stream) {
  ++stream.frames.back().next;
  stream.is_issued = false;
}

bool Device::execute(Stream& stream, const Instruction& instruction) {
  if (program().issue_interval > 0 && stream.index == 0 && !stream.is_issued && !issue(stream, instruction))
    return false;
  switch (instruction.op) {
    case Op::compute:
      if (stands_in_line()) return compute_beside(stream, instruction);
      return config_.shares_compute ? compute_in_turn(stream, instruction) : compute(stream, instruction);
    case Op::send:
      return send(stream, instruction);
    case Op::receive:
      return receive(stream, instruction);
    case Op::wait_sends:
      return wait_sends(stream, instruction);
    case Op::collective:
      return begin_collective(stream, instruction);
    case Op::signal:
      return signal(stream, instruction);
    case Op::wait:
      return wait(stream, instruction);
    case Op::allocate:
    case Op::release:
      return change_memory(stream, instruction);
    case Op::kernel:
      return begin_kernel(stream, instruction);
    case Op::mark:
      shared_.record->make().marks.push_back(stream.clock);
      return true;
    case Op::end_phase:
      shared_.record->make().phase_ends.emplace_back(instruction.a, stream.clock);
      return true;
    case Op::call:
      break;
  }
  throw InternalError("an instruction that no stream can carry out");
}

void Device::call(Stream& stream, const Instruction& instruction) {
  ++stream.frames.back().next;
  if (instruction.b > 0 && environment().record_timeline)
    shared_.record->make().passes[{stream.index, instruction.b}] += instruction.count;
  const auto& code = program().blocks[instruction.a].code;
  if (instruction.count == 0 || code.empty()) return;
  stream.frames.push_back({instruction.a, static_cast<std::uint32_t>(code.size()), 0, instruction.count});
  if (instruction.count > 1 && stream.index == 0 && environment().loop_round.looks_at(config_.self)) tell_round(stream);
}

bool Device::compute(Stream& stream, const Instruction& instruction) {
  const Time begin = stream.clock;
  stream.clock = time_after(stream.clock, repeated(instruction.count, shared_.costs->of(instruction.a)));
  state_.flops += static_cast<Int128>(instruction.count) * program().operators[instruction.a].flops;
  spend(stream, instruction, instruction.activity, begin, stream.clock);
  return true;
}

// Operators of several streams queue up for the compute engine in the order in which they are started.
bool Device::compute_in_turn(Stream& stream, const Instruction& instruction) {
  while (stream.launched < instruction.count) {
    if (!reach_clock(stream)) return false;
    const Time begin = stream.clock = context().now();
    state_.engine_free = time_after(std::max(state_.engine_free, begin), shared_.costs->of(instruction.a));
    state_.flops += program().operators[instruction.a].flops;
    stream.clock = state_.engine_free;
    ++stream.launched;
    spend(stream, instruction, instruction.activity, begin, stream.clock);
  }
  stream.launched = 0;
  return true;
}

// Collectives that begin or end meanwhile change its end. Where no other stream can come between, instructions that
// compute follow each other without events: the stream goes on at once, up to the first one that asks for the time.
bool Device::compute_beside(Stream& stream, const Instruction& instruction) {
  if (config_.shares_compute) return compute_beside_in_turn(stream, instruction);
  if (!computes_ahead(stream) && !reach_clock(stream)) return false;
  const Frame& frame = stream.frames.back();
  const MicroBatch batch = environment().record_timeline ? micro_batch_of(stream) : MicroBatch{};
  queue({stream.index, instruction.a, instruction.count, frame.block, frame.next, batch});
  return true;
}

bool Device::computes_ahead(const Stream& stream) const {
  return stands_in_line() && !config_.shares_compute && is_line_busy() && line_job().stream == stream.index;
}

// What takes no time and is for nobody else's eyes stands in line like what computes.
bool Device::follows_computing(const Instruction& instruction) const {
  return instruction.op == Op::compute || instruction.op == Op::call ||
         ((instruction.op == Op::allocate || instruction.op == Op::release) && !config_.shares_memory);
}

void Device::wait_for_computing(Stream& stream) {
  stream.state = StreamState::computes;
  follow_job();
}

// True when the clock is where it has led to.
bool Device::computing_is_over(Stream& stream) {
  end_jobs();
  if (!computes_ahead(stream)) return true;
  wait_for_computing(stream);
  return false;
}

// What is over is accounted for.
void Device::end_jobs() {
  if (memory_ != nullptr) return memory_->go_on(context().now(), *this);
  if (config_.shares_compute) return;
  state_.engine->end_until(context().now(), [this](const ComputeDone& done) { computed(done); });
}

void Device::computed(const ComputeDone& done) {
  Stream& stream = state_.streams[done.job.stream];
  const Instruction& instruction = program().blocks[done.job.block].code[done.job.instruction];
  // Where streams take turns, waiting for the others is part of it.
  const Time begin = config_.shares_compute ? stream.since : done.begin;
  stream.clock = done.end;
  if (instruction.op != Op::compute) return change_level(stream, instruction);
  state_.flops += static_cast<Int128>(done.job.count) * program().operators[instruction.a].flops;
  spend(stream, instruction, instruction.activity, begin, done.end);
  if (!environment().record_timeline || begin == done.end) return;
  results::Interval& recorded = shared_.record->make().intervals_of(stream.index).back();
  recorded.micro_batch = done.job.micro_batch.number;  // the stream may have gone on to the next one
  recorded.pass = done.job.micro_batch.pass;
}

// Operator by operator, each in an event.
bool Device::compute_beside_in_turn(Stream& stream, const Instruction& instruction) {
  if (memory_ == nullptr && is_line_busy() && line_job().stream == stream.index) {  // it is done
    const std::uint32_t done = state_.engine->job().count;
    state_.engine->end();
    state_.flops += static_cast<Int128>(done) * program().operators[instruction.a].flops;
    stream.clock = context().now();
    spend(stream, instruction, instruction.activity, stream.since, stream.clock);
    stream.launched += done;
    begin_job();
  }
  if (stream.launched == instruction.count) {
    stream.launched = 0;
    return true;
  }
  if (!reach_clock(stream)) return false;
  stream.state = StreamState::computes;
  stream.clock = stream.since = context().now();
  const Frame& frame = stream.frames.back();
  const MicroBatch batch = environment().record_timeline ? micro_batch_of(stream) : MicroBatch{};
  const ComputeJob job{stream.index, instruction.a, 1, frame.block, frame.next, batch};
  if (memory_ != nullptr) {
    queue(job);  // job_over() says when it is done
  } else {
    state_.engine->queue(job, *shared_.costs);
    begin_job();
  }
  return false;
}

void Device::begin_job() {
  if (state_.engine->begin_next(context().now())) follow_job();
}

// The stream whose job is under way goes on at its end, or at that of all; until then its clock is the least that this
// can be.
void Device::follow_job() {
  if (memory_ != nullptr || !state_.engine->is_busy()) return;  // the memory calls back
  Stream& stream = state_.streams[state_.engine->job().stream];
  const bool all = !config_.shares_compute;
  stream.clock = all ? state_.engine->earliest_end_of_all() : state_.engine->earliest_end();
  const Time end = all ? state_.engine->all_end() : state_.engine->ends();
  // When it is woken before, it looks at the engine again.
  if (all && stream.wake > context().now() && stream.wake <= end) return;
  wake_at(stream, end);
}

bool Device::send(Stream& stream, const Instruction& instruction) {
  if (!reach_clock(stream)) return false;
  post(stream, own_program().peers[instruction.a], instruction.b, instruction.bytes, 0, context().now());
  if (environment().record_timeline) record_message(stream, instruction, stream.clock, stream.clock);
  return true;
}

bool Device::receive(Stream& stream, const Instruction& instruction) {
  state_.bytes_received += instruction.bytes;
  ++state_.messages_received;
  stream.in_hint = state_.mailboxes.find(own_program().peers[instruction.a], instruction.b, stream.in_hint);
  if (state_.mailboxes.take(stream.in_hint, stream.index)) {
    if (environment().record_timeline) record_message(stream, instruction, stream.clock, stream.clock);
    return true;
  }
  stream.state = StreamState::message;
  stream.since = stream.clock;
  stream.missing = 1;
  return false;
}

// The message of a receive is here: waiting was a bubble until it was posted.
void Device::received(Stream& stream, Time waited_until) {
  const Instruction& instruction = *present(stream);
  const Time end = std::max(stream.clock, context().now());
  const Time under_way = std::clamp(waited_until, stream.since, end);
  spend(stream, instruction, Activity::bubble, stream.since, under_way);
  spend(stream, instruction, instruction.activity, under_way, end);
  if (environment().record_timeline) record_message(stream, instruction, under_way, end);
  stream.clock = end;
  ++stream.frames.back().next;
}

bool Device::wait_sends(Stream& stream, const Instruction& instruction) {
  stream.since = stream.clock;
  if (!reach_clock(stream)) return false;
  const Time left = departure(stream, any_batch);
  if (left > context().now()) {
    await_departure(stream, left);
    return false;
  }
  spend(stream, instruction, instruction.activity, stream.since, context().now());
  stream.clock = context().now();
  return true;
}

bool Device::signal(Stream& stream, const Instruction& instruction) {
  if (!reach_clock(stream)) return false;
  state_.events[instruction.a] += instruction.count;
  while (Stream* other = longest_waiting(instruction.a)) {
    const Instruction& waiting = *present(*other);
    if (state_.events[instruction.a] < waiting.count) break;
    state_.events[instruction.a] -= waiting.count;
    const Time end = std::max(other->clock, context().now());
    spend_like(*other, waiting, stream, end);
    other->clock = end;
    other->state = StreamState::runs;
    ++other->frames.back().next;
    handling().ready.push_back(other->index);
  }
  return true;
}

namespace {

/// The first stretch that goes on beyond this time: they stand in order.
auto first_beyond(const std::vector<WaitSpan>& waits, Time time) {
  return std::ranges::partition_point(waits, [time](const WaitSpan& span) { return span.end <= time; });
}

}  // namespace

// What a stream waits for until `other` signals it: as long as that one waits for other devices, this one does, too.
void Device::spend_like(Stream& stream, const Instruction& wait, const Stream& other, Time end) {
  Time begin = stream.since;
  for (auto span = first_beyond(other.waits, begin); span != other.waits.end(); ++span) {
    const Time from = std::clamp(span->begin, begin, end);
    const Time until = std::clamp(span->end, from, end);
    spend(stream, wait, wait.activity, begin, from);
    spend(stream, wait, span->activity, from, until);
    begin = until;
  }
  spend(stream, wait, wait.activity, begin, end);
}

// Only what the main stream waits for is counted, and of that only what lies behind the beginning of its wait: of what
// was before, nothing is kept, or it would be more after each round of a loop in which the main stream always comes to
// its wait first.
void Device::keep_wait(Stream& stream, const WaitSpan& wait) const {
  if (state_.streams.size() == 1) return;
  const Stream& main = state_.streams[0];
  if (main.state != StreamState::event) return stream.waits.clear();
  stream.waits.erase(stream.waits.begin(), first_beyond(stream.waits, main.since));
  if (wait.end > main.since) stream.waits.push_back(wait);
}

Stream* Device::longest_waiting(std::uint32_t event) {
  Stream* longest = nullptr;
  for (Stream& stream : state_.streams) {
    if (stream.state != StreamState::event || present(stream)->a != event) continue;
    if (longest == nullptr || stream.since < longest->since) longest = &stream;
  }
  return longest;
}

bool Device::wait(Stream& stream, const Instruction& instruction) {
  // Where several streams wait for one event, who comes first takes it.
  if (config_.shares_events && !reach_clock(stream)) return false;
  if (state_.events[instruction.a] >= instruction.count) {
    state_.events[instruction.a] -= instruction.count;
    return true;
  }
  stream.state = StreamState::event;
  stream.since = stream.clock;
  return false;
}

// What several streams change is changed in order of time.
bool Device::change_memory(Stream& stream, const Instruction& instruction) {
  if (config_.shares_memory && !reach_clock(stream)) return false;
  if (computes_ahead(stream)) {
    const Frame& frame = stream.frames.back();
    queue({stream.index, 0, 0, frame.block, frame.next});
  } else {
    change_level(stream, instruction);
  }
  return true;
}

void Device::change_level(Stream& stream, const Instruction& instruction) {
  const std::int64_t bytes = instruction.op == Op::allocate ? instruction.bytes : -instruction.bytes;
  MemoryAccount& memory = state_.memory;
  memory.add(instruction.b, bytes, stream.clock);
  if (memory.level[instruction.b] < 0) refuse_release(stream, instruction);
  if (config_.shares_memory && environment().limits_memory &&
      memory.total > environment().machine->spec(config_.self).usable_memory().value())
    refuse_memory(stream);
  if (!environment().record_memory) return;
  const auto category = static_cast<std::uint16_t>(instruction.b);
  shared_.record->make().memory_changes.push_back({config_.self, category, stream.clock, memory.level[category]});
}

void Device::spend(Stream& stream, const Instruction& instruction, Activity activity, Time begin, Time end) {
  if (end <= begin) return;
  if (stream.index == 0) state_.time.add(activity, end - begin);
  if (activity == Activity::waiting || activity == Activity::bubble) keep_wait(stream, {begin, end, activity});
  if (environment().record_timeline) record(stream, instruction, activity, begin, end);
}

}  // namespace tessera::sim
