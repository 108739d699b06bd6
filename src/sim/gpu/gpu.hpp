// A GPU at transaction level: its memory and the kernel that it runs (T3,
// figure 8). Part of a device; times are the device's.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "sim/gpu/kernel_run.hpp"
#include "sim/gpu/traffic_bins.hpp"
#include "sim/gpu/updater.hpp"
#include "sim/memory/tracker.hpp"
#include "tessera/machine/gpu.hpp"
#include "tessera/program/kernel.hpp"

namespace tessera::sim {

[[nodiscard]] MemorySystemSpec memory_spec(const machine::GpuSpec& spec);
[[nodiscard]] TrackerSpec tracker_spec(const machine::GpuSpec& spec);

/// What a GPU is told of a kernel that it runs.
struct KernelCall {
  const program::Kernel* kernel = nullptr;  ///< outlives the run
  std::uint32_t rank = 0;                   ///< of this GPU in the group
  std::uint32_t size = 1;
  std::uint32_t id = 0;  ///< names it among those of other GPUs
};

/// All that changes in a GPU.
struct GpuState {
  /// Blocks of a kernel that is not begun here.
  struct Early {
    std::uint32_t id = 0;
    std::uint32_t block = 0;
  };
  std::uint32_t id = 0;  ///< of the kernel
  std::vector<Early> early;
  TrafficBins bins;
};

struct SavedGpu {
  GpuState gpu;
  SavedMemory memory;
  UpdaterState updater;
  std::optional<KernelState> kernel;  ///< none before the first
};

class Gpu final : private MemoryClient {
 public:
  /// Both outlive it. `traffic_interval`: ps of a bin of traffic over time, 0: it is not recorded.
  Gpu(const machine::GpuSpec& spec, GpuHost& host, Time traffic_interval = 0);

  /// The L2 is empty at the start: what the kernel before it left dirty is written back.
  void begin(Time now, const KernelCall& call);

  void wake(const GpuWake& wake, Time now);
  /// Blocks of a kernel have come from another GPU; it may be one that is not begun here.
  void received(std::uint32_t id, std::uint32_t block, Time now);
  /// The running kernel has ended: writes back what it left.
  void release(Time now);

  [[nodiscard]] const KernelRun& run() const { return *run_; }
  [[nodiscard]] MemorySystem& memory() { return memory_; }
  [[nodiscard]] const TrafficBins& bins() const { return state_.bins; }
  /// B that the memory has moved so far, by class.
  [[nodiscard]] std::array<std::int64_t, traffic_class_count> traffic() const;

  [[nodiscard]] SavedGpu save() const;
  /// Goes on from the state of another GPU of the same spec. `call`: of the kernel that it runs, or ran last.
  void restore(SavedGpu saved, const KernelCall& call);

 private:
  [[nodiscard]] bool runs(std::uint32_t id) const { return run_ != nullptr && state_.id == id; }
  void make_run(const KernelCall& call);
  void arrived(std::uint32_t owner, Time at) override {
    Updater::is_own(owner) ? updater_.arrived(owner, at) : run_->arrived(owner, at, now_);
  }
  void stored(const MemoryRequest& request, Time now) override {
    updater_.stored(request, now);
    run_->stored(request, now);
  }
  void room_made(std::uint32_t owner, Time now) override { run_->room_made(owner, now); }
  void served(const MemoryRequest& request, Time at) override { state_.bins.add(request, at); }
  void wake_channel(std::uint32_t channel, Time at) override { host_->wake_gpu(at, {GpuWake::What::channel, channel}); }

  machine::GpuSpec spec_;
  GpuHost* host_;
  MemorySystem memory_;
  Updater updater_;
  std::unique_ptr<KernelRun> run_;
  GpuState state_;
  Time now_ = 0;  // of the event that is handled
};

}  // namespace tessera::sim
