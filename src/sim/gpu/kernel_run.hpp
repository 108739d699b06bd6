// A kernel that a GPU runs by its transactions. One at a time on a GPU.
#pragma once

#include <cstdint>
#include <string>

#include "sim/gpu/kernel_state.hpp"
#include "sim/memory/memory_system.hpp"
#include "tessera/machine/gpu.hpp"

namespace tessera::sim {

class Updater;

/// A GPU to itself.
struct GpuWake {
  enum class What : std::uint32_t { channel, slot_ready, slot_done, block_read, left, atomic_read };
  What what = What::channel;
  std::uint32_t index = 0;
};

/// What a kernel sends at a time: consecutive blocks.
struct KernelBlock {
  std::uint32_t first = 0;  ///< block, by which the destination knows them
  std::uint32_t bytes = 0;
  bool awaited = false;   ///< KernelRun::left() is wanted
  bool combined = false;  ///< the switch in front of the destination adds it to those of the other members
};

/// What a GPU asks of the device that it belongs to.
class GpuHost {
 public:
  virtual ~GpuHost() = default;
  /// Call Gpu::wake(now, wake) at `at`.
  virtual void wake_gpu(Time at, const GpuWake& wake) = 0;
  /// Sends blocks to a member of the kernel's group: one message over the network.
  virtual void send_block(std::uint32_t member, const KernelBlock& block) = 0;
  /// The kernel has ended, now.
  virtual void kernel_ended() = 0;
};

/// What a kernel works with. Operands and outputs are numbered by blocks, from
/// 0 on for each kernel: the L2 is empty between them.
struct KernelContext {
  const machine::GpuSpec* spec = nullptr;
  MemorySystem* memory = nullptr;
  Updater* updater = nullptr;  ///< for uncached stores that may be updates
  GpuHost* host = nullptr;
  std::uint32_t rank = 0;  ///< in the kernel's group
  std::uint32_t size = 1;
  std::int64_t cus = 0;  ///< that it runs on
};

class KernelRun {
 public:
  virtual ~KernelRun() = default;
  virtual void begin(Time now) = 0;
  virtual void arrived(std::uint32_t owner, Time at, Time now) = 0;
  virtual void stored(const MemoryRequest& request, Time now) = 0;
  virtual void room_made(std::uint32_t /*owner*/, Time /*now*/) {}
  virtual void wake(const GpuWake& wake, Time now) = 0;
  /// Blocks from a neighbour have come to this GPU; `block` is the first of them.
  virtual void received(std::uint32_t block, Time now) = 0;
  /// An awaited message of this kernel has left the device.
  virtual void left(std::uint32_t /*block*/, Time /*now*/) {}
  /// What its dirty blocks in the L2 count as when they are written back.
  [[nodiscard]] virtual TrafficClass output_class() const = 0;
  /// When its work-groups had ended; what follows is communication alone.
  [[nodiscard]] virtual Time computed() const = 0;
  /// B that have come from neighbours.
  [[nodiscard]] virtual std::int64_t bytes_received() const = 0;
  /// What it waits for, for messages: "in a kernel for ...".
  [[nodiscard]] virtual std::string waits_for() const = 0;
  /// Updates that the Tracker held back.
  [[nodiscard]] virtual std::int64_t held_back() const { return 0; }

  [[nodiscard]] virtual KernelState state() const = 0;
  /// Goes on from the state of another run of the same kernel, in the same context.
  virtual void restore(KernelState state) = 0;
};

}  // namespace tessera::sim
