// Events of a device. Instructions: device_instructions.cpp; collectives: device_collective.cpp; results:
// device_results.cpp.
#include "sim/execution/device.hpp"

#include <algorithm>

#include "sim/execution/channel.hpp"
#include "tessera/base/error.hpp"
#include "tessera/program/group_rank.hpp"

namespace tessera::sim {
namespace {

constexpr std::uint32_t no_rank = ~std::uint32_t{0};

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

Device::Device(ExecutionEnvironment& environment, program::DeviceId self)
    : environment_(&environment), self_(self), node_(environment.network, self, this) {
  const program::Program& program = *environment.program;
  if (self >= program.devices.size() || own_program().streams.empty()) return;
  costs_ = &environment.costs->at_speed(environment.machine->speed[self]);
  shares_compute_ = environment.facts->shares_compute(own_program());
  shares_events_ = environment.facts->shares_events(own_program());
  shares_cores_ = environment.facts->shares_cores(own_program());
  if (shares_cores_) engine_ = std::make_unique<ComputeEngine>();
  if (environment.distances != nullptr) distances_ = environment.distances->of(self, environment.machine->speed[self]);
  events_.assign(own_program().events, 0);
  time_ = TimeAccount(program::activities_of(program));
  memory_ = MemoryAccount(program::categories_of(program));
  ranks_ = ranks_of(program, self);
  for (const program::BlockId block : own_program().streams) {
    Stream& stream = streams_.emplace_back();
    stream.index = static_cast<std::uint32_t>(streams_.size() - 1);
    stream.frames.reserve(environment.facts->of(block).depth);
    const auto& code = program.blocks[block].code;
    stream.frames.push_back({code.data(), static_cast<std::uint32_t>(code.size()), 0, 1, block});
  }
  ready_.reserve(streams_.size());
}

void Device::start(pdes::Context& context) {
  context_ = &context;
  for (Stream& stream : streams_) {
    stream.state = StreamState::until_clock;
    wake_at(stream, 0);
  }
}

void Device::handle(pdes::Context& context, const pdes::Event& event) {
  context_ = &context;
  source_ = event.source;
  try {
    act_on(event);
    run_ready();
  } catch (const BeyondTimeError&) {
    if (at_work_ == nullptr) throw;
    refuse_time(*at_work_);
  }
}

void Device::act_on(const pdes::Event& event) {
  switch (event.kind) {
    case NetworkProtocol::kind_of<Delivered>: {
      const auto message = event.as<Delivered>();
      if (!node_.holds(message)) break;
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
      if (stream.state == StreamState::until_clock || stream.state == StreamState::departures ||
          stream.state == StreamState::computes)
        ready_.push_back(message.stream);
      break;
    }
    default:
      node_.handle(*context_, event);
  }
}

void Device::run_ready() {
  run_all_ready();
  while (departures_awaited_) {
    recheck_departures();
    if (ready_.empty()) break;
    run_all_ready();
  }
}

void Device::run_all_ready() {
  for (std::size_t i = 0; i < ready_.size(); ++i) run(stream_at(ready_[i]));
  ready_.clear();
  node_.flush(*context_, source_);
}

// Messages that waited for their turn may have been planned by now.
void Device::recheck_departures() {
  departures_awaited_ = false;
  for (Stream& stream : streams_) recheck_departure(stream);
  for (const auto& strand : strands_) recheck_departure(*strand);
}

void Device::recheck_departure(Stream& stream) {
  if (stream.state != StreamState::departures) return;
  const bool in_collective = stream.collective.phase != CollectiveRun::Phase::none;
  const Time left = departure(stream, in_collective ? stream.batch : any_batch);
  if (left == never) {
    departures_awaited_ = true;
  } else if (left <= context_->now()) {
    ready_.push_back(stream.index);
  } else {
    wake_at(stream, left);
  }
}

void Device::on_delivered(const Delivered& message) {
  const MessageName& name = message.name;
  // A device has few boxes in use at a time; the one that its streams looked at last is most likely the one.
  const Mailboxes::Index box = mailboxes_.find(name.sender, name.channel, streams_.empty() ? 0 : streams_[0].in_hint);
  if (const auto stream = mailboxes_.deliver(box, message.waited_until)) notify(*stream, message.waited_until);
}

void Device::notify(std::uint32_t index, Time waited_until) {
  Stream& stream = stream_at(index);
  CollectiveRun& collective = stream.collective;
  collective.waited_until = std::max(collective.waited_until, waited_until);
  // A stream that is still posting looks at what is missing when it has done so.
  if (--stream.missing > 0 || stream.state == StreamState::runs) return;
  if (stream.state == StreamState::message) received(stream, waited_until);
  if (stream.clock < context_->now()) stream.clock = context_->now();
  ready_.push_back(index);
}

void Device::message_left(const OwnMessage& message, Time at) {
  if (is_kernel(message.name.channel)) {
    if (message.awaited)
      wake_gpu(memory_of(message.name.channel), std::max(at, context_->now()),
               {GpuWake::What::left, message.name.sequence});
    return;
  }
  Stream& stream = stream_at(message.stream);
  stream.left = std::max(stream.left, at);
  if (message.batch == stream.batch) stream.batch_left = std::max(stream.batch_left, at);
}

Time Device::departure(const Stream& stream, std::uint32_t batch) const {
  if (batch != any_batch) return std::max(stream.batch_left, node_.departure(stream.index, batch));
  Time left = std::max(stream.left, node_.departure(stream.index, any_batch));
  for (const auto& strand : strands_) {
    if (strand->parent == stream.index) left = std::max(left, departure(*strand, any_batch));
  }
  return left;
}

// What others can see must happen at its time.
bool Device::reach_clock(Stream& stream) {
  if (stream.clock <= context_->now()) return true;
  stream.state = StreamState::until_clock;
  wake_at(stream, stream.clock);
  return false;
}

void Device::wake_at(Stream& stream, Time at) { context_->schedule(at, StreamWake{stream.index, ++stream.token}); }

OwnMessage Device::own_message(const MessageName& name, program::DeviceId destination, std::int64_t bytes,
                               Time waited_until) const {
  OwnMessage message;
  message.name = name;
  message.destination = destination;
  message.waited_until = waited_until;
  message.joined = context_->now();
  const NetworkTables& tables = *environment_->network.tables;
  message.packets_left = tables.packets(bytes);
  message.last_bytes = bytes - (message.packets_left - 1) * tables.packet();
  return message;
}

Outboxes::Box& Device::outbox(program::DeviceId destination, std::uint32_t channel, std::uint32_t& hint) {
  if (Outboxes::Box* known = outboxes_.find(destination, channel, hint)) return *known;
  return outboxes_.add(destination, channel, destination == self_ ? 0 : node_.port_towards(destination));
}

void Device::post(Stream& stream, program::DeviceId destination, std::uint32_t channel, std::int64_t bytes,
                  std::uint32_t batch, Time waited_until) {
  Outboxes::Box& box = outbox(destination, channel, stream.out_hint);
  const MessageName name{self_, channel, box.next++};
  bytes_sent_ += bytes;
  if (destination == self_) return on_delivered({name, 0, waited_until});
  OwnMessage message = own_message(name, destination, bytes, waited_until);
  message.stream = stream.index;
  message.batch = batch;
  box.latest = node_.post(*context_, source_, box.port, message, box.latest);
}

}  // namespace tessera::sim
