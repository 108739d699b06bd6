// A kernel that a GPU runs by its transactions. One at a time on a GPU.
#pragma once

#include <cstdint>

#include "tessera/machine/gpu.hpp"
#include "tessera/sim/memory/memory_system.hpp"

namespace tessera::sim {

/// A GPU to itself.
struct GpuWake {
  enum class What : std::uint32_t { channel, slot_ready, slot_done, block_read };
  What what = What::channel;
  std::uint32_t index = 0;
};

/// What a GPU asks of the device that it belongs to.
class GpuHost {
 public:
  virtual ~GpuHost() = default;
  /// Call Gpu::wake(now, wake) at `at`.
  virtual void wake_gpu(Time at, const GpuWake& wake) = 0;
  /// Sends a block to a member of the kernel's group: a message of so many
  /// bytes over the network.
  virtual void send_block(std::uint32_t member, std::uint32_t block, std::uint32_t bytes) = 0;
  /// The kernel has ended, now.
  virtual void kernel_ended() = 0;
};

/// What a kernel works with. Addresses: operands and outputs of a kernel are
/// numbered by blocks of its own; `base` is the first of them in the GPU's
/// memory.
struct KernelContext {
  const machine::GpuSpec* spec = nullptr;
  MemorySystem* memory = nullptr;
  GpuHost* host = nullptr;
  std::uint32_t rank = 0;  ///< in the kernel's group
  std::uint32_t size = 1;
};

class KernelRun {
 public:
  virtual ~KernelRun() = default;
  virtual void begin(Time now) = 0;
  virtual void arrived(std::uint32_t owner, Time at, Time now) = 0;
  virtual void stored(const MemoryRequest& request, Time now) = 0;
  virtual void wake(const GpuWake& wake, Time now) = 0;
  /// A neighbour's block has come to this GPU.
  virtual void received(std::uint32_t block, Time now) = 0;
  /// A block that this kernel sent has left the device.
  virtual void left(std::uint32_t /*block*/, Time /*now*/) {}
};

}  // namespace tessera::sim
