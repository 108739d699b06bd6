// A GPU at transaction level: its memory and the kernel that it runs (T3,
// figure 8). Part of a device; times are the device's.
#pragma once

#include <memory>
#include <vector>

#include "tessera/machine/gpu.hpp"
#include "tessera/program/address_map.hpp"
#include "tessera/program/kernel.hpp"
#include "tessera/sim/gpu/kernel_run.hpp"

namespace tessera::sim {

[[nodiscard]] MemorySystemSpec memory_spec(const machine::GpuSpec& spec);

class Gpu final : private MemoryClient {
 public:
  /// Both outlive it.
  Gpu(const machine::GpuSpec& spec, GpuHost& host);

  /// Starts a GEMM whose stores go where `map` says, as member `rank` of
  /// `size`. The L2 is empty at the start.
  void begin(Time now, const program::GemmShape& shape, const program::AddressMap& map, std::uint32_t rank,
             std::uint32_t size);
  void begin(Time now, const program::RingPass& pass, std::int64_t cus, std::uint32_t rank, std::uint32_t size);

  void wake(const GpuWake& wake, Time now);
  /// A block of a kernel has come from another GPU; it may belong to the next
  /// kernel, which is not begun.
  void received(std::uint32_t kernel, std::uint32_t block, Time now);
  void left(std::uint32_t block, Time now);

  [[nodiscard]] std::uint32_t kernel() const { return kernel_; }  ///< begun so far
  [[nodiscard]] MemorySystem& memory() { return memory_; }

 private:
  struct Early {
    std::uint32_t kernel = 0;
    std::uint32_t block = 0;
  };
  void start(Time now, std::unique_ptr<KernelRun> run);
  void arrived(std::uint32_t owner, Time at) override { run_->arrived(owner, at, now_); }
  void stored(const MemoryRequest& request, Time now) override { run_->stored(request, now); }
  void wake_channel(std::uint32_t channel, Time at) override { host_->wake_gpu(at, {GpuWake::What::channel, channel}); }

  machine::GpuSpec spec_;
  GpuHost* host_;
  MemorySystem memory_;
  std::unique_ptr<KernelRun> run_;
  std::uint32_t kernel_ = 0;
  std::vector<Early> early_;
  Time now_ = 0;  // of the event that is handled
};

}  // namespace tessera::sim
