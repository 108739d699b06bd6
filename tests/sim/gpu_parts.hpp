// GPUs taken apart: the memory and the kernel of each, joined as sim::Gpu joins them, with a watcher who is told
// what the memory announces and what the kernel does.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "ideal_links.hpp"
#include "sim/gpu/copy_run.hpp"
#include "sim/gpu/gemm_run.hpp"
#include "sim/gpu/gpu.hpp"

namespace tessera::test {

/// What happens on GPU `rank`.
class GpuWatcher {
 public:
  virtual ~GpuWatcher() = default;
  /// DRAM begins to move what the request asks for: by `at`, data of a read are there, others are in memory.
  virtual void served(std::uint32_t /*rank*/, const sim::MemoryRequest&, Time /*at*/) {}
  /// A store or update past the L2 enters its DRAM queue; the kernel is told afterwards.
  virtual void stored(std::uint32_t /*rank*/, const sim::MemoryRequest&, Time /*now*/) {}
  /// The same, and the kernel has been told.
  virtual void counted(std::uint32_t /*rank*/, const sim::KernelRun&, Time /*now*/) {}
  virtual void woken(std::uint32_t /*rank*/, const sim::GpuWake&, Time /*now*/) {}
  virtual void sent(std::uint32_t /*rank*/, std::uint32_t /*to*/, const sim::KernelBlock&, Time /*leaves*/) {}
  virtual void came(std::uint32_t /*rank*/, std::uint32_t /*from*/, const sim::KernelBlock&, Time /*now*/) {}
  virtual void ended(std::uint32_t /*rank*/, Time /*now*/) {}
};

class GpuParts {
 public:
  /// `spec` and `watcher` outlive it.
  GpuParts(const machine::GpuSpec& spec, const program::Kernel& kernel, std::uint32_t size, GpuWatcher& watcher)
      : kernel_(kernel), watcher_(&watcher) {
    for (std::uint32_t rank = 0; rank < size; ++rank)
      members_.push_back(std::make_unique<Member>(*this, rank, size, spec, kernel_));
  }

  /// All begin at 0. Until nothing is left to do; whether all have ended.
  [[nodiscard]] bool run() {
    for (const auto& member : members_) member->run->begin(0);
    calls_.run();
    return std::all_of(members_.begin(), members_.end(), [](const auto& member) { return member->has_ended; });
  }
  [[nodiscard]] const sim::KernelRun& kernel(std::uint32_t rank) const { return *members_[rank]->run; }
  [[nodiscard]] const sim::MemorySystem& memory(std::uint32_t rank) const { return members_[rank]->memory; }

 private:
  struct Member final : sim::GpuHost, sim::MemoryClient {
    Member(GpuParts& parts, std::uint32_t index, std::uint32_t size, const machine::GpuSpec& spec,
           const program::Kernel& kernel)
        : owner(&parts), rank(index), memory(sim::memory_spec(spec), *this), updater(memory, *this) {
      sim::KernelContext context;
      context.spec = &spec;
      context.memory = &memory;
      context.updater = &updater;
      context.host = this;
      context.rank = rank;
      context.size = size;
      context.cus = spec.cus;
      if (const auto* gemm = std::get_if<program::GemmKernel>(&kernel.work)) {
        updater.begin(gemm->reduction);
        run = std::make_unique<sim::GemmRun>(context, *gemm);
      } else {
        run = std::make_unique<sim::CopyRun>(context, std::get<program::CopyKernel>(kernel.work));
      }
    }
    [[nodiscard]] Time now() const { return owner->calls_.now(); }

    void arrived(std::uint32_t who, Time at) override {
      sim::Updater::is_own(who) ? updater.arrived(who, at) : run->arrived(who, at, now());
    }
    void room_made(std::uint32_t who, Time at) override { run->room_made(who, at); }
    void served(const sim::MemoryRequest& request, Time at) override { owner->watcher_->served(rank, request, at); }
    void stored(const sim::MemoryRequest& request, Time at) override {
      owner->watcher_->stored(rank, request, at);
      updater.stored(request, at);
      run->stored(request, at);
      owner->watcher_->counted(rank, *run, at);
    }
    void wake_channel(std::uint32_t channel, Time at) override {
      owner->calls_.at(at, [=, this] { memory.wake(now(), channel); });
    }
    void wake_gpu(Time at, const sim::GpuWake& wake) override {
      owner->calls_.at(at, [=, this] {
        owner->watcher_->woken(rank, wake, now());
        wake.what == sim::GpuWake::What::atomic_read ? updater.read(wake.index, now()) : run->wake(wake, now());
      });
    }
    void send_block(std::uint32_t to, const sim::KernelBlock& block) override {
      const Time leaves = link.leaves(now(), block.bytes);
      owner->watcher_->sent(rank, to, block, leaves);
      owner->calls_.at(leaves + IdealLink::latency, [=, this] {
        owner->watcher_->came(to, rank, block, now());
        owner->members_[to]->run->received(block.first, now());
      });
      if (block.awaited) owner->calls_.at(leaves, [=, this] { run->left(block.first, now()); });
    }
    void kernel_ended() override {
      has_ended = true;
      owner->watcher_->ended(rank, now());
      memory.flush(now(), run->output_class());
    }

    GpuParts* owner;
    std::uint32_t rank;
    IdealLink link;
    bool has_ended = false;
    sim::MemorySystem memory;
    sim::Updater updater;
    std::unique_ptr<sim::KernelRun> run;
  };

  program::Kernel kernel_;  // which its runs refer to
  GpuWatcher* watcher_;
  std::vector<std::unique_ptr<Member>> members_;
  Calls calls_;
};

}  // namespace tessera::test
