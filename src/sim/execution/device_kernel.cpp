// Kernels at transaction level: a stream waits while one of the device's GPUs runs.
#include <optional>

#include "sim/execution/channel.hpp"
#include "sim/execution/device.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {

using program::Activity;

namespace {

/// Messages and additions are none.
std::optional<program::CollectiveKind> collective_kind(program::CopyKind kind) {
  switch (kind) {
    case program::CopyKind::reduce_scatter:
      return program::CollectiveKind::reduce_scatter;
    case program::CopyKind::all_gather:
      return program::CollectiveKind::all_gather;
    case program::CopyKind::all_to_all:
      return program::CollectiveKind::all_to_all;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool Device::begin_kernel(Stream& stream, const program::Instruction& instruction) {
  if (!reach_clock(stream)) return false;
  const program::Kernel& kernel = program().kernels[instruction.a];
  const program::GroupId id = own_program().groups[kernel.group_slot];
  const std::uint32_t channel = kernel_channel(id, kernel.memory, state_.kernels_begun.make()[{id, kernel.memory}]++);
  stream.state = StreamState::kernel;
  stream.since = stream.clock = context().now();
  gpu(kernel.memory)
      .begin(context().now(), {instruction.a, id, config_.ranks[kernel.group_slot], channel, stream.index});
  return false;
}

OwnGpu& Device::gpu(std::uint32_t memory) {
  if (gpus_[memory] == nullptr) {
    KernelOwner& owner = *this;
    machine::GpuSpec spec = *environment().machine->device.transaction;
    spec.speed = environment().machine->speed[config_.self];
    gpus_[memory] = std::make_unique<OwnGpu>(spec, program(), owner, memory, environment().traffic_interval);
  }
  return *gpus_[memory];
}

const OwnGpu& Device::gpu_of(const Stream& stream) const {
  for (const auto& own : gpus_) {
    if (own != nullptr && own->stream() == stream.index) return *own;
  }
  throw InternalError("a stream waits for a kernel that no memory runs");
}

// Up to the end of its work-groups a GEMM counts as what it is for, then as waiting until the latest member has joined
// of which it has got anything, then as communication. Other kernels communicate from the start.
void Device::end_kernel(Stream& stream, const program::Instruction& instruction, const OwnGpu& own) {
  const program::Kernel& kernel = program().kernels[instruction.a];
  const KernelRun& run = own.gpu().run();
  const Time computed = run.computed();
  const Time now = context().now();
  const auto* gemm = std::get_if<program::GemmKernel>(&kernel.work);
  state_.bytes_received += run.bytes_received();
  if (gemm != nullptr) state_.flops += gemm->shape.flops();
  const Time worked = gemm == nullptr ? stream.since : computed;
  const Time waited_until = std::clamp(own.waited_until(), worked, now);
  spend(stream, instruction, instruction.activity, stream.since, worked);
  spend(stream, instruction, Activity::waiting, worked, waited_until);
  spend(stream, instruction, gemm == nullptr ? instruction.activity : Activity::tensor_communication, waited_until,
        now);
  shared_.record->make().kernel_rows.push_back({config_.self, static_cast<std::uint16_t>(stream.index),
                                                instruction.label, stream.since, computed, now, run.held_back()});
  stream.clock = now;
  if (gemm == nullptr) count_copy(stream, instruction, std::get<program::CopyKernel>(kernel.work), own);
}

// A collective of a kernel's is one like others.
void Device::count_copy(const Stream& stream, const program::Instruction& instruction,
                        const program::CopyKernel& kernel, const OwnGpu& own) {
  const auto kind = collective_kind(kernel.kind);
  if (!kind) return;
  results::CollectiveRow key;
  key.label = instruction.label;
  key.kind = static_cast<std::uint16_t>(*kind);
  const bool exchanges = kernel.kind == program::CopyKind::all_to_all;
  key.algorithm = static_cast<std::uint16_t>(program::algorithm_index(exchanges ? "direct" : "ring"));
  key.group_size = static_cast<std::uint32_t>(own.group().members.size());
  state_.collectives.add(key, kernel.bytes, stream.clock - stream.since,
                         std::min(own.waited_until(), stream.clock) - stream.since);
}

void Device::kernel_ended(const OwnGpu& own) {
  gpus_[own.memory()]->gpu().release(context().now());
  Stream& stream = state_.streams[own.stream()];
  end_kernel(stream, *present(stream), own);
  ++stream.frames.back().next;
  handling().ready.push_back(stream.index);
}

void Device::on_gpu_call(const GpuCall& call) {
  handling().at_work = &state_.streams[gpus_[call.memory]->stream()];
  gpus_[call.memory]->gpu().wake({static_cast<GpuWake::What>(call.what), call.index}, context().now());
}

// It may belong to a kernel that is not begun here.
void Device::on_block(const Delivered& message) {
  const MessageName& name = message.name;
  ++state_.messages_received;
  OwnGpu& own = gpu(memory_of(name.channel));
  handling().at_work = &state_.streams[own.stream()];
  own.received(name.channel & ~combined_lane, name.sequence, context().now(), message.waited_until);
}

void Device::wake_gpu(std::uint32_t memory, Time at, const GpuWake& wake) {
  context().schedule(at, GpuCall{memory, static_cast<std::uint32_t>(wake.what), wake.index});
}

void Device::send_block(const OwnGpu& own, std::uint32_t member, const KernelBlock& block) {
  const program::DeviceId destination = own.group().members[member];
  const std::uint32_t channel = own.channel() | (block.combined ? combined_lane : 0);
  Outboxes::Box& box = box_to_send(destination, channel, state_.streams[own.stream()].out_hint, any_stream);
  OwnMessage message = own_message({config_.self, channel, block.first}, destination, block.bytes, own.waited_until());
  message.stream = no_stream;  // no stream waits for its departure
  message.awaited = block.awaited;
  state_.bytes_sent += block.bytes;
  box.latest = node_.post(context(), box.port, message, box.latest);
}

void Device::collect_kernels(results::RunResults& results) const {
  results.kernel_rows.insert(results.kernel_rows.end(), shared_.record->get().kernel_rows.begin(),
                             shared_.record->get().kernel_rows.end());
  for (const auto& own : gpus_) {
    if (own == nullptr) continue;
    const auto traffic = own->gpu().traffic();
    for (std::uint16_t i = 0; i < traffic.size(); ++i) {
      results.traffic_rows.push_back({config_.self, static_cast<std::uint16_t>(own->memory()), i, traffic[i]});
    }
    const TrafficBins& bins = own->gpu().bins();
    for (const TrafficBins::Bin& bin : bins.bins()) {
      if (bin.bytes == 0) continue;
      results.traffic_bins.push_back({config_.self, static_cast<std::uint16_t>(own->memory()), bin.traffic,
                                      bin.interval * bins.interval(), bin.bytes});
    }
  }
}

}  // namespace tessera::sim
