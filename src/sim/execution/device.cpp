// Events of a device. Instructions: device_instructions.cpp; collectives: device_collective.cpp; results:
// device_results.cpp.
#include "sim/execution/device.hpp"

#include <algorithm>
#include <utility>

#include "sim/execution/channel.hpp"
#include "tessera/base/error.hpp"
#include "tessera/program/group_rank.hpp"

namespace tessera::sim {
namespace {

constexpr std::uint32_t no_rank = ~std::uint32_t{0};

bool waits_for_time(const Stream& stream) {
  return stream.state == StreamState::until_clock || stream.state == StreamState::departures ||
         stream.state == StreamState::computes || stream.state == StreamState::taken_over;
}

std::vector<std::uint32_t> ranks_of(const program::Program& program, program::DeviceId self) {
  std::vector<std::uint32_t> ranks;
  for (const program::GroupId group : program.devices[self].groups) {
    ranks.push_back(no_rank);
    if (group == program::no_group) continue;
    if (const auto rank = program::rank_in(program.groups[group], self)) ranks.back() = *rank;
  }
  return ranks;
}

}  // namespace

Device::Device(ExecutionEnvironment& environment, OwnRecord& record, program::DeviceId self)
    : shared_{&environment, nullptr, &record},
      config_{self, 0, false, false, false, false, false, {}},
      node_(environment.network, self, this) {
  if (self >= program().devices.size() || own_program().streams.empty()) return;
  const ProgramFacts& facts = *environment.facts;
  shared_.costs = &environment.costs->of(environment.machine->kind_and_speed(self));
  config_.streams = static_cast<std::uint32_t>(own_program().streams.size());
  config_.shares_compute = facts.shares_compute(own_program());
  config_.shares_events = facts.shares_events(own_program());
  config_.shares_memory = facts.shares_memory(own_program());
  config_.shares_cores = facts.shares_cores(own_program());
  config_.ranks = ranks_of(program(), self);
  if (config_.shares_cores) state_.engine.emplace();
  if (program().memory_packet > 0) {
    config_.shares_bandwidth = true;
    memory_ = std::make_unique<SharedMemory>(
        *environment.network.tables, *shared_.costs,
        MemoryServer{shared_.costs->memory_bandwidth(), program().memory_packet, environment.takes_memory_rounds}, self,
        config_.shares_compute);
  }
  state_.events.assign(own_program().events, 0);
  state_.time = TimeAccount(program::activities_of(program()));
  state_.memory = MemoryAccount(program::categories_of(program()));
  for (const program::BlockId block : own_program().streams) {
    Stream& stream = state_.streams.emplace_back();
    stream.index = static_cast<std::uint32_t>(state_.streams.size() - 1);
    stream.frames.reserve(facts.of(block).depth);
    stream.frames.push_back({block, static_cast<std::uint32_t>(program().blocks[block].code.size())});
  }
}

void Device::start(pdes::Context& context) {
  handling().context = &context;
  for (Stream& stream : state_.streams) {
    stream.state = StreamState::until_clock;
    wake_at(stream, 0);
  }
}

void Device::handle(pdes::Context& context, const pdes::Event& event) {
  node_.comes(event);
  tell_promises();
  handling().context = &context;
  handling().source = event.source;
  handling().at_work = nullptr;
  handling().in_turn = 0;
  handling().ready.clear();  // of a device that has failed: others go on until the earliest failure is known
  try {
    go_on_with_memory();
    act_on(event);
    run_ready();
    call_back_memory();
  } catch (const BeyondTimeError&) {
    if (handling().at_work == nullptr) throw;
    refuse_time(*handling().at_work);
  }
}

SavedDevice Device::save() const {
  SavedDevice saved{state_, node_.state(), std::nullopt, {}};
  if (memory_ != nullptr) saved.memory = memory_->save();
  for (std::size_t memory = 0; memory < gpus_.size(); ++memory)
    if (gpus_[memory] != nullptr) saved.gpus[memory] = gpus_[memory]->save();
  return saved;
}

void Device::restore(SavedDevice saved) {
  state_ = std::move(saved.device);
  node_.restore(std::move(saved.node));
  if (saved.memory) memory_->restore(std::move(*saved.memory));
  for (std::uint32_t memory = 0; memory < saved.gpus.size(); ++memory)
    saved.gpus[memory] ? gpu(memory).restore(std::move(*saved.gpus[memory])) : gpus_[memory].reset();
}

void Device::act_on(const pdes::Event& event) {
  switch (event.kind) {
    case NetworkProtocol::kind_of<Delivered>: {
      const auto message = event.as<Delivered>();
      if (!has_come(message)) break;
      is_kernel(message.name.channel) ? on_block(message) : on_delivered(message);
      break;
    }
    case NetworkProtocol::kind_of<GpuCall>:
      on_gpu_call(event.as<GpuCall>());
      break;
    case NetworkProtocol::kind_of<StreamWake>: {
      const auto message = event.as<StreamWake>();
      Stream& stream = stream_at(message.stream);
      if (message.token != stream.token) break;
      // A stream whose strands end of themselves goes on behind all that do so.
      const bool has_strands = stream.state == StreamState::taken_over && event.source == config_.self;
      const bool is_due = stream.wake == context().now();
      if (is_due) tell_of_memory();
      if ((is_due || has_strands) && state_.streams.size() + state_.strands.size() > 1) wake_all_due();
      if (stream.token == message.token && waits_for_time(stream)) handling().ready.push_back(message.stream);
      break;
    }
    case NetworkProtocol::kind_of<MemoryWake>:
      if (!awaits(event.as<MemoryWake>())) break;
      state_.memory_call.at = never;
      tell_of_memory();
      wake_all_due();
      break;
    default:
      node_.handle(context(), event);
  }
}

// Streams that go on at the same time do so in the order of their numbers, whenever that has become known: how far
// ahead it is known depends on how much is planned together.
void Device::wake_all_due() {
  const auto wake = [&](Stream& stream) {
    if (stream.wake != context().now()) return;
    stream.wake = 0;
    if (!waits_for_time(stream)) return;
    ++stream.token;
    handling().ready.push_back(stream.index);
  };
  std::ranges::for_each(state_.streams, wake);
  std::ranges::for_each(state_.strands, wake);
  handling().in_turn = handling().ready.size();
}

void Device::run_ready() {
  bool has_begun = !handling().ready.empty();
  if (handling().in_turn == 0) handling().in_turn = handling().ready.size();
  run_all_ready();
  while (state_.departures_awaited) {
    recheck_departures();
    if (handling().ready.empty()) break;
    handling().in_turn = std::exchange(has_begun, true) ? 0 : handling().ready.size();
    run_all_ready();
  }
}

void Device::run_all_ready() {
  std::size_t& next = handling().next;
  for (next = 0; next < handling().ready.size();) run(stream_at(handling().ready[next++]));
  handling().ready.clear();
  node_.flush(context(), handling().source);
}

// The stream whose turn it is. Those that others have made ready go on behind all that are due.
std::uint32_t Device::in_turn() const {
  const Handling& now = handling();
  return now.next <= now.in_turn ? now.ready[now.next - 1] : any_stream;
}

// Messages that waited for their turn may have been planned by now.
void Device::recheck_departures() {
  state_.departures_awaited = false;
  for (Stream& stream : state_.streams) recheck_departure(stream);
  for (Stream& strand : state_.strands) recheck_departure(strand);
}

void Device::recheck_departure(Stream& stream) {
  if (stream.state != StreamState::departures) return;
  const bool in_collective = stream.collective.phase != CollectiveRun::Phase::none;
  const Time left = departure(stream, in_collective ? stream.batch : any_batch);
  if (left <= context().now()) {
    handling().ready.push_back(stream.index);
  } else if (left == never) {
    state_.departures_awaited = true;
  } else if (stream.wake != left) {
    wake_at(stream, left);
  }
}

// Until then, or as long as that is not known: then each event of the device looks again.
void Device::await_departure(Stream& stream, Time left) {
  stream.state = StreamState::departures;
  if (left != never) return wake_at(stream, left);
  state_.departures_awaited = true;
  stream.wake = 0;
}

bool Device::has_come(const Delivered& message) {
  const bool is_told = message.generation >= told_by_takeover;
  if (!is_told && !node_.holds(message)) return false;
  if (environment().promises != nullptr) environment().promises->delivered(message, config_.self);
  return !is_told || environment().takeover->has_come(config_.self, message);
}

Time Device::earliest_output(Time from, Time latency) const {
  const Promises* promises = environment().promises;
  return promises == nullptr ? saturating_add(from, latency) : promises->earliest_output(config_.self, from, latency);
}

void Device::on_delivered(const Delivered& message) {
  const MessageName& name = message.name;
  // A device has few boxes in use at a time; the one that its streams looked at last is most likely the one.
  const Mailboxes::Index box =
      state_.mailboxes.find(name.sender, name.channel, state_.streams.empty() ? 0 : state_.streams[0].in_hint);
  if (const auto stream = state_.mailboxes.deliver(box, message.waited_until)) notify(*stream, message.waited_until);
}

void Device::notify(std::uint32_t index, Time waited_until) {
  Stream& stream = stream_at(index);
  CollectiveRun& collective = stream.collective;
  collective.waited_until = std::max(collective.waited_until, waited_until);
  // A stream that is still posting looks at what is missing when it has done so.
  if (--stream.missing > 0 || stream.state == StreamState::runs) return;
  if (stream.state == StreamState::message) received(stream, waited_until);
  if (stream.clock < context().now()) stream.clock = context().now();
  handling().ready.push_back(index);
}

void Device::message_left(const OwnMessage& message, Time at) {
  if (is_kernel(message.name.channel)) {
    if (message.awaited)
      wake_gpu(memory_of(message.name.channel), std::max(at, context().now()),
               {GpuWake::What::left, message.name.sequence});
    return;
  }
  Stream& stream = stream_at(message.stream);
  stream.left = std::max(stream.left, at);
  if (message.batch == stream.batch) stream.batch_left = std::max(stream.batch_left, at);
}

Time Device::departure(const Stream& stream, std::uint32_t batch) const {
  if (memory_ != nullptr && memory_->holds(stream.index, batch)) return never;
  if (batch != any_batch) return std::max(stream.batch_left, node_.departure(stream.index, batch));
  Time left = std::max(stream.left, node_.departure(stream.index, any_batch));
  for (const Stream& strand : state_.strands) {
    if (strand.parent == stream.index) left = std::max(left, departure(strand, any_batch));
  }
  return left;
}

// What others can see must happen at its time.
bool Device::reach_clock(Stream& stream) {
  if (stream.clock <= context().now()) return true;
  stream.state = StreamState::until_clock;
  wake_at(stream, stream.clock);
  return false;
}

void Device::wake_at(Stream& stream, Time at) {
  stream.wake = at;
  context().schedule(at, StreamWake{stream.index, ++stream.token});
}

OwnMessage Device::own_message(const MessageName& name, program::DeviceId destination, std::int64_t bytes,
                               Time waited_until) const {
  OwnMessage message = message_of(*environment().network.tables, bytes, destination);
  message.name = name;
  message.waited_until = waited_until;
  message.joined = context().now();
  return message;
}

Outboxes::Box& Device::outbox(program::DeviceId destination, std::uint32_t channel, std::uint32_t& hint) {
  if (Outboxes::Box* known = state_.outboxes.find(destination, channel, hint)) return *known;
  const std::uint32_t port = destination == config_.self ? 0 : node_.port_towards({config_.self, destination, channel});
  return state_.outboxes.add(destination, channel, port);
}

// What is broken off may come before in its line, and uses the outboxes.
Outboxes::Box& Device::box_to_send(program::DeviceId destination, std::uint32_t channel, std::uint32_t& hint,
                                   std::uint32_t turn) {
  if (destination != config_.self)
    node_.break_off_reservation(context(), handling().source, outbox(destination, channel, hint).port, turn);
  return outbox(destination, channel, hint);
}

void Device::post(Stream& stream, program::DeviceId destination, std::uint32_t channel, std::int64_t bytes,
                  std::uint32_t batch, Time waited_until) {
  state_.bytes_sent += bytes;
  Outboxes::Box* to = &outbox(destination, channel, stream.out_hint);
  if (destination != config_.self && node_.ports()[to->port]->reserved()) [[unlikely]] {
    if (goes_with_takeover(stream, *to, destination, channel, bytes, waited_until)) return;
    to = &box_to_send(destination, channel, stream.out_hint, in_turn());
  }
  Outboxes::Box& box = *to;
  const MessageName name{config_.self, channel, box.next++};
  if (destination == config_.self) return on_delivered({name, 0, waited_until});
  if (environment().promises != nullptr) environment().promises->posted(name, destination);
  OwnMessage message = own_message(name, destination, bytes, waited_until);
  message.stream = stream.index;
  message.batch = batch;
  if (memory_ != nullptr) return memory_->send(message, box.port, context().now(), *this);
  box.latest = node_.post(context(), box.port, message, box.latest);
}

}  // namespace tessera::sim
