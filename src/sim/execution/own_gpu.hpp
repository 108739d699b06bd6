// The GPU of a device that runs kernels at transaction level, and what it asks of the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

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

/// A kernel that a stream has begun, and that it waits for.
struct BegunKernel {
  std::uint32_t kernel = 0;  ///< in Program::kernels
  program::GroupId group = 0;
  std::uint32_t rank = 0;     ///< in the group
  std::uint32_t channel = 0;  ///< names it in messages; none but those of kernels are in use
  std::uint32_t stream = 0;
};

/// All that changes in it, beside the GPU itself.
struct OwnGpuState {
  BegunKernel begun;  ///< the latest
  Time waited_until = 0;
  std::map<std::uint32_t, Time> early;  ///< by channel: the same of kernels that are not begun
};

struct SavedOwnGpu {
  OwnGpuState own;
  SavedGpu gpu;
};

/// One memory of a device with the kernel that runs on it.
class OwnGpu final : private GpuHost {
 public:
  /// Program and owner outlive it.
  OwnGpu(const machine::GpuSpec& spec, const program::Program& program, KernelOwner& owner, std::uint32_t memory,
         Time traffic_interval)
      : program_(&program), owner_(&owner), memory_(memory), gpu_(spec, *this, traffic_interval) {}

  void begin(Time now, const BegunKernel& begun) {
    state_.begun = begun;
    state_.waited_until = std::max(now, take_early(begun.channel));
    gpu_.begin(now, call());
  }

  /// Blocks of the kernel that `channel` names have come; it may be one that is not begun here.
  void received(std::uint32_t channel, std::uint32_t block, Time now, Time waited_until) {
    Time& known = channel == state_.begun.channel ? state_.waited_until : state_.early[channel];
    known = std::max(known, waited_until);
    gpu_.received(channel, block, now);
  }
  /// The latest join, as far as it is known here, of the members of the kernel that runs.
  [[nodiscard]] Time waited_until() const { return state_.waited_until; }

  [[nodiscard]] Gpu& gpu() { return gpu_; }
  [[nodiscard]] const Gpu& gpu() const { return gpu_; }
  [[nodiscard]] std::uint32_t memory() const { return memory_; }
  [[nodiscard]] std::uint32_t channel() const { return state_.begun.channel; }
  [[nodiscard]] std::uint32_t stream() const { return state_.begun.stream; }
  [[nodiscard]] const program::Group& group() const { return program_->groups[state_.begun.group]; }

  [[nodiscard]] SavedOwnGpu save() const { return {state_, gpu_.save()}; }
  void restore(SavedOwnGpu saved) {
    state_ = std::move(saved.own);
    gpu_.restore(std::move(saved.gpu), call());
  }

 private:
  [[nodiscard]] Time take_early(std::uint32_t channel) {
    const auto found = state_.early.extract(channel);
    return found.empty() ? 0 : found.mapped();
  }
  [[nodiscard]] KernelCall call() const {
    const BegunKernel& begun = state_.begun;
    return {&program_->kernels[begun.kernel], begun.rank, static_cast<std::uint32_t>(group().members.size()),
            begun.channel};
  }
  void wake_gpu(Time at, const GpuWake& wake) override { owner_->wake_gpu(memory_, at, wake); }
  void send_block(std::uint32_t member, const KernelBlock& block) override { owner_->send_block(*this, member, block); }
  void kernel_ended() override { owner_->kernel_ended(*this); }

  const program::Program* program_;
  KernelOwner* owner_;
  std::uint32_t memory_;
  OwnGpuState state_;
  Gpu gpu_;
};

}  // namespace tessera::sim
