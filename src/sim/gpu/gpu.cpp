#include "tessera/sim/gpu/gpu.hpp"

#include <algorithm>
#include <utility>

#include "tessera/sim/gpu/gemm_run.hpp"
#include "tessera/sim/gpu/ring_pass_run.hpp"

namespace tessera::sim {

MemorySystemSpec memory_spec(const machine::GpuSpec& spec) {
  MemorySystemSpec memory;
  memory.cache.capacity = spec.l2_capacity;
  memory.cache.ways = static_cast<std::uint32_t>(spec.l2_ways);
  memory.cache.banks = static_cast<std::uint32_t>(spec.l2_banks);
  memory.cache.granularity = spec.granularity;
  memory.cache.clock = spec.clock;
  memory.cache.hit_latency = spec.l2_latency;
  memory.channel.clock_period = second / spec.memory_clock;
  memory.channel.ccdl = static_cast<std::uint32_t>(spec.ccdl);
  memory.channel.ccdwl = static_cast<std::uint32_t>(spec.ccdwl);
  memory.channel.bank_groups = static_cast<std::uint32_t>(spec.bank_groups);
  memory.channel.block_bursts = bursts_of(static_cast<std::uint32_t>(spec.granularity));
  memory.channel.turnaround = static_cast<std::uint32_t>(spec.turnaround);
  memory.channel.latency = spec.dram_latency;
  memory.channel.queue = static_cast<std::uint32_t>(spec.dram_queue);
  memory.channels = static_cast<std::uint32_t>(spec.channels);
  memory.arbitration.policy = spec.arbitration;
  memory.arbitration.starvation_limit = spec.starvation_limit;
  return memory;
}

Gpu::Gpu(const machine::GpuSpec& spec, GpuHost& host) : spec_(spec), host_(&host), memory_(memory_spec(spec), *this) {}

void Gpu::begin(Time now, const program::GemmShape& shape, const program::AddressMap& map, std::uint32_t rank,
                std::uint32_t size) {
  const KernelContext context{&spec_, &memory_, host_, rank, size};
  start(now, std::make_unique<GemmRun>(context, shape, map, 0));
}

void Gpu::begin(Time now, const program::RingPass& pass, std::int64_t cus, std::uint32_t rank, std::uint32_t size) {
  const KernelContext context{&spec_, &memory_, host_, rank, size};
  start(now, std::make_unique<RingPassRun>(context, pass, cus, 0));
}

void Gpu::start(Time now, std::unique_ptr<KernelRun> run) {
  now_ = now;
  memory_.flush(now, TrafficClass::gemm_write);
  run_ = std::move(run);
  ++kernel_;
  run_->begin(now);
  const std::vector<Early> early = std::exchange(early_, {});
  for (const Early& block : early) received(block.kernel, block.block, now);
}

void Gpu::wake(const GpuWake& wake, Time now) {
  now_ = now;
  if (wake.what == GpuWake::What::channel) return memory_.wake(now, wake.index);
  run_->wake(wake, now);
}

void Gpu::received(std::uint32_t kernel, std::uint32_t block, Time now) {
  now_ = now;
  if (kernel != kernel_) return early_.push_back({kernel, block});
  run_->received(block, now);
}

void Gpu::left(std::uint32_t block, Time now) {
  now_ = now;
  run_->left(block, now);
}

}  // namespace tessera::sim
