// How updates get into a GPU's memory: what they are added by (T3, sections 4.3 and 7.4).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/gpu/kernel_run.hpp"
#include "sim/memory/memory_system.hpp"
#include "tessera/program/kernel.hpp"

namespace tessera::sim {

struct UpdaterState {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Atomic {
    MemoryRequest request;
    std::uint32_t next = none;  ///< of the same block, or among those that are free
  };
  /// Of one block.
  struct Line {
    std::uint32_t first = none;  ///< which is carried out
    std::uint32_t last = none;
  };
  program::Reduction reduction = program::Reduction::near_memory;
  std::vector<Atomic> atomics;
  std::uint32_t free = none;
  std::unordered_map<BlockId, Line> lines;
};

/// Stores pass through. Updates are op-and-stores of the memory itself, or, with system-wide atomics on uncached data,
/// a read and a write: a unit beside the L2 reads the block, adds, and writes it. Atomics of one block follow each
/// other: the next one reads when the one before is in its DRAM queue.
class Updater {
 public:
  /// Both outlive it.
  Updater(MemorySystem& memory, GpuHost& host) : memory_(&memory), host_(&host) {}
  void begin(program::Reduction reduction) { state_.reduction = reduction; }

  void store(Time now, const MemoryRequest& request);
  /// Whether a read of this owner is its own.
  [[nodiscard]] static bool is_own(std::uint32_t owner) { return owner >> 30U == 1; }
  void arrived(std::uint32_t owner, Time at);
  /// GpuWake::What::atomic_read.
  void read(std::uint32_t index, Time now);
  /// A store has entered its DRAM queue.
  void stored(const MemoryRequest& request, Time now);

  [[nodiscard]] const UpdaterState& state() const { return state_; }
  void restore(UpdaterState state) { state_ = std::move(state); }

 private:
  static constexpr std::uint32_t none = UpdaterState::none;
  static constexpr std::uint32_t own = 1U << 30U;
  void begin_atomic(std::uint32_t index, Time now);

  MemorySystem* memory_;
  GpuHost* host_;
  UpdaterState state_;
};

}  // namespace tessera::sim
