// The GPU of a device that runs kernels at transaction level, and what it asks of the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "sim/gpu/gpu.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

class OwnGpu;

/// The device, as its GPUs see it.
class KernelOwner {
 public:
  virtual ~KernelOwner() = default;
  virtual void wake_gpu(std::uint32_t memory, Time at, const GpuWake& wake) = 0;
  virtual void send_block(const OwnGpu& gpu, std::uint32_t member, const KernelBlock& block) = 0;
  virtual void kernel_ended(const OwnGpu& gpu) = 0;
};

/// One memory of a device with the kernel that runs on it.
class OwnGpu final : private GpuHost {
 public:
  OwnGpu(const machine::GpuSpec& spec, KernelOwner& owner, std::uint32_t memory, Time traffic_interval)
      : owner_(&owner), memory_(memory), gpu_(spec, *this, traffic_interval) {}

  /// `channel` names the kernel in messages; the stream waits for its end.
  void begin(Time now, const program::Kernel& kernel, const program::Group& group, std::uint32_t rank,
             std::uint32_t channel, std::uint32_t stream) {
    channel_ = channel;
    stream_ = stream;
    group_ = &group;
    waited_until_ = std::max(now, take_early(channel));
    gpu_.begin(now, kernel, rank, static_cast<std::uint32_t>(group.members.size()), channel);
  }

  /// Blocks of the kernel that `channel` names have come; it may be one that is not begun here.
  void received(std::uint32_t channel, std::uint32_t block, Time now, Time waited_until) {
    Time& known = channel == channel_ ? waited_until_ : early_[channel];
    known = std::max(known, waited_until);
    gpu_.received(channel, block, now);
  }
  /// The latest join, as far as it is known here, of the members of the kernel that runs.
  [[nodiscard]] Time waited_until() const { return waited_until_; }

  [[nodiscard]] Gpu& gpu() { return gpu_; }
  [[nodiscard]] const Gpu& gpu() const { return gpu_; }
  [[nodiscard]] std::uint32_t memory() const { return memory_; }
  [[nodiscard]] std::uint32_t channel() const { return channel_; }
  [[nodiscard]] std::uint32_t stream() const { return stream_; }
  [[nodiscard]] const program::Group& group() const { return *group_; }

 private:
  [[nodiscard]] Time take_early(std::uint32_t channel) {
    const auto found = early_.extract(channel);
    return found.empty() ? 0 : found.mapped();
  }
  void wake_gpu(Time at, const GpuWake& wake) override { owner_->wake_gpu(memory_, at, wake); }
  void send_block(std::uint32_t member, const KernelBlock& block) override { owner_->send_block(*this, member, block); }
  void kernel_ended() override { owner_->kernel_ended(*this); }

  KernelOwner* owner_;
  std::uint32_t memory_;
  std::uint32_t channel_ = 0;  // none but those of kernels are in use
  std::uint32_t stream_ = 0;
  const program::Group* group_ = nullptr;
  Time waited_until_ = 0;
  std::map<std::uint32_t, Time> early_;  // by channel: the same of kernels that are not begun
  Gpu gpu_;
};

}  // namespace tessera::sim
