// GPUs on a ring of ideal links: a kernel's surroundings without the rest of the simulator.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "ideal_links.hpp"
#include "tessera/sim/gpu/gpu.hpp"

namespace tessera::test {

class GpuRing {
 public:
  GpuRing(const machine::GpuSpec& spec, std::uint32_t size) {
    for (std::uint32_t rank = 0; rank < size; ++rank) members_.push_back(std::make_unique<Member>(*this, rank, spec));
  }

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(members_.size()); }
  [[nodiscard]] sim::Gpu& gpu(std::uint32_t rank) { return members_[rank]->gpu; }
  /// Starts a kernel on all GPUs, now.
  void begin(const program::Kernel& kernel) {
    kernels_.push_back(std::make_unique<program::Kernel>(kernel));
    for (const auto& member : members_) {
      member->ended = -1;
      member->gpu.begin(now(), *kernels_.back(), member->rank, size(), static_cast<std::uint32_t>(kernels_.size()));
    }
  }
  [[nodiscard]] Time now() const { return calls_.now(); }

  /// Until nothing is left to do; when the last kernel ended, -1 when one has
  /// not.
  Time run() {
    calls_.run();
    Time last = 0;
    for (const auto& member : members_) {
      if (member->ended < 0) return -1;
      last = std::max(last, member->ended);
    }
    return last;
  }

  /// B that a GPU's memory has moved for a class of traffic.
  [[nodiscard]] std::int64_t traffic(std::uint32_t rank, sim::TrafficClass what) {
    return gpu(rank).traffic()[static_cast<std::size_t>(what)];
  }

 private:
  struct Member final : sim::GpuHost {
    Member(GpuRing& ring, std::uint32_t index, const machine::GpuSpec& spec)
        : owner(&ring), rank(index), gpu(spec, *this) {}
    void wake_gpu(Time at, const sim::GpuWake& wake) override {
      owner->calls_.at(at, [this, wake] { gpu.wake(wake, owner->now()); });
    }
    void send_block(std::uint32_t member, const sim::KernelBlock& block) override {
      const Time leaves = link.leaves(owner->now(), block.bytes);
      const auto id = static_cast<std::uint32_t>(owner->kernels_.size());
      owner->calls_.at(leaves + IdealLink::latency,
                       [=, this] { owner->gpu(member).received(id, block.first, owner->now()); });
      if (block.awaited) wake_gpu(leaves, {sim::GpuWake::What::left, block.first});
    }
    void kernel_ended() override {
      ended = owner->now();
      gpu.release(ended);
    }

    GpuRing* owner;
    std::uint32_t rank;
    IdealLink link;
    Time ended = -1;
    sim::Gpu gpu;
  };

  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::unique_ptr<program::Kernel>> kernels_;
  Calls calls_;
};

}  // namespace tessera::test
