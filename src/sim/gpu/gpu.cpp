#include "sim/gpu/gpu.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/gpu/copy_run.hpp"
#include "sim/gpu/gemm_run.hpp"

namespace tessera::sim {
namespace {

ChannelSpec channel_spec(const machine::GpuSpec& spec) {
  const auto number = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  ChannelSpec channel;
  channel.clock_period =
      std::llround(static_cast<double>(second) / (static_cast<double>(spec.memory_clock) * spec.speed));
  channel.banks = number(spec.banks);
  channel.bank_groups = number(spec.bank_groups);
  channel.row_blocks = number(std::max<std::int64_t>(spec.dram_row / spec.granularity, 1));
  channel.block_bursts = bursts_of(number(spec.granularity));
  channel.ccds = number(spec.ccds);
  channel.ccdl = number(spec.ccdl);
  channel.ccdwl = number(spec.ccdwl);
  channel.rcd = number(spec.rcd);
  channel.rcdwr = number(spec.rcdwr);
  channel.rp = number(spec.rp);
  channel.ras = number(spec.ras);
  channel.rc = number(spec.rc);
  channel.rrd = number(spec.rrd);
  channel.rtp = number(spec.rtp);
  channel.wr = number(spec.wr);
  channel.wtr = number(spec.wtr);
  channel.rtw = number(spec.rtw);
  channel.cl = number(spec.cl);
  channel.cwl = number(spec.cwl);
  channel.latency = spec.dram_latency;
  channel.queue = number(spec.dram_queue);
  channel.max_bypass = number(spec.max_bypass);
  return channel;
}

}  // namespace

MemorySystemSpec memory_spec(const machine::GpuSpec& spec) {
  MemorySystemSpec memory;
  memory.cache.capacity = spec.l2_capacity;
  memory.cache.ways = static_cast<std::uint32_t>(spec.l2_ways);
  memory.cache.banks = static_cast<std::uint32_t>(spec.l2_banks);
  memory.cache.granularity = spec.granularity;
  memory.cache.clock = std::llround(static_cast<double>(spec.clock) * spec.speed);
  memory.cache.hit_latency = spec.l2_latency;
  memory.channel = channel_spec(spec);
  memory.limits.waiting_bursts = spec.l2_queue;
  memory.limits.fetches = std::max<std::int64_t>(spec.l2_misses * burst_bytes / spec.granularity, 1);
  memory.channels = static_cast<std::uint32_t>(spec.channels);
  memory.arbitration.policy = spec.arbitration;
  memory.arbitration.starvation_limit = spec.starvation_limit;
  return memory;
}

TrackerSpec tracker_spec(const machine::GpuSpec& spec) {
  TrackerSpec tracker;
  tracker.sets = static_cast<std::uint32_t>(spec.tracker_sets);
  tracker.bytes = spec.tracker_size;
  return tracker;
}

Gpu::Gpu(const machine::GpuSpec& spec, GpuHost& host, Time traffic_interval)
    : spec_(spec),
      host_(&host),
      memory_(memory_spec(spec), *this),
      updater_(memory_, host),
      state_{0, {}, TrafficBins(traffic_interval)} {}

void Gpu::begin(Time now, const KernelCall& call) {
  now_ = now;
  if (const auto* gemm = std::get_if<program::GemmKernel>(&call.kernel->work)) {
    memory_.arbitrate(now, gemm->arbitration.empty() ? spec_.arbitration : gemm->arbitration);
    updater_.begin(gemm->reduction);
  }
  make_run(call);
  state_.id = call.id;
  run_->begin(now);
  const std::vector<GpuState::Early> early = std::exchange(state_.early, {});
  for (const GpuState::Early& block : early) received(block.id, block.block, now);
}

void Gpu::make_run(const KernelCall& call) {
  const program::Kernel& kernel = *call.kernel;
  const std::int64_t cus = kernel.cus > 0 ? kernel.cus : spec_.cus;
  const KernelContext context{&spec_, &memory_, &updater_, host_, call.rank, call.size, cus};
  if (const auto* gemm = std::get_if<program::GemmKernel>(&kernel.work)) {
    run_ = std::make_unique<GemmRun>(context, *gemm);
  } else {
    run_ = std::make_unique<CopyRun>(context, std::get<program::CopyKernel>(kernel.work));
  }
}

SavedGpu Gpu::save() const {
  SavedGpu saved{state_, memory_.save(), updater_.state(), {}};
  if (run_ != nullptr) saved.kernel = run_->state();
  return saved;
}

void Gpu::restore(SavedGpu saved, const KernelCall& call) {
  state_ = std::move(saved.gpu);
  memory_.restore(std::move(saved.memory));
  updater_.restore(std::move(saved.updater));
  run_.reset();
  if (!saved.kernel) return;
  make_run(call);
  run_->restore(std::move(*saved.kernel));
}

void Gpu::wake(const GpuWake& wake, Time now) {
  now_ = now;
  switch (wake.what) {
    case GpuWake::What::channel:
      return memory_.wake(now, wake.index);
    case GpuWake::What::left:
      return run_->left(wake.index, now);
    case GpuWake::What::atomic_read:
      return updater_.read(wake.index, now);
    default:
      return run_->wake(wake, now);
  }
}

void Gpu::received(std::uint32_t id, std::uint32_t block, Time now) {
  now_ = now;
  if (!runs(id)) return state_.early.push_back({id, block});
  run_->received(block, now);
}

// Results that other GPUs read must have left the L2 (release at system scope).
void Gpu::release(Time now) { memory_.flush(now, run_->output_class()); }

std::array<std::int64_t, traffic_class_count> Gpu::traffic() const {
  std::array<std::int64_t, traffic_class_count> sum{};
  for (const MemoryChannel* channel : memory_.channels()) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += channel->counts().bytes[i];
  }
  return sum;
}

}  // namespace tessera::sim
