#include "tessera/sim/gpu/gemm_run.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tessera::sim {
namespace {

using program::Region;
using program::RegionKind;

/// Work-groups in order of dispatch, by tile.
std::vector<std::uint32_t> dispatch_order(const program::GemmShape& shape, const program::AddressMap& map) {
  std::vector<std::uint32_t> order;
  for (const Region& region : map.regions) {
    for (std::uint32_t tile = region.first_tile; tile < region.first_tile + region.tiles; ++tile) {
      order.insert(order.end(), static_cast<std::size_t>(shape.split_k), tile);
    }
  }
  return order;
}

/// A store that the caches may keep: nobody waits for it, and nobody adds to
/// it.
bool is_cached(const Region& region) { return region.kind == RegionKind::local && region.updates == 0; }

bool is_tracked(const Region& region) { return region.kind != RegionKind::remote && region.updates > 0; }

}  // namespace

GemmRun::GemmRun(const KernelContext& context, const program::GemmShape& shape, const program::AddressMap& map,
                 BlockId base)
    : context_(context),
      shape_(shape),
      map_(map),
      layout_(shape, context.spec->granularity),
      base_(base),
      work_groups_(context, shape_, layout_, base, dispatch_order(shape, map), *this),
      tracker_(TrackerSpec{}),
      region_of_(static_cast<std::size_t>(shape.tiles())) {
  for (std::size_t index = 0; index < map.regions.size(); ++index) {
    const Region& region = map.regions[index];
    std::fill_n(region_of_.begin() + region.first_tile, region.tiles, static_cast<std::uint16_t>(index));
    for (std::uint32_t tile = region.first_tile; is_tracked(region) && tile < region.first_tile + region.tiles;
         ++tile) {
      for (std::int64_t wavefront = 0; wavefront < shape.wavefronts; ++wavefront) {
        incomplete_ += layout_.wavefront_bytes(tile, wavefront) > 0 ? 1 : 0;  // none beyond the edge of the matrix
      }
    }
  }
}

void GemmRun::begin(Time now) {
  for (MemoryChannel* channel : context_.memory->channels()) {
    channel->producer_began(now);
    channel->begin_observation(now);
  }
  tracker_.begin(static_cast<std::uint32_t>(shape_.tiles()));
  work_groups_.begin(now);
}

void GemmRun::wake(const GpuWake& wake, Time now) {
  if (wake.what != GpuWake::What::block_read) return work_groups_.wake(wake, now);
  const std::uint32_t tile = wake.index / layout_.c_blocks();
  context_.host->send_block(region_of(tile).destination, wake.index,
                            block_bytes(tile, wake.index % layout_.c_blocks()));
  --reading_;
  end_if_done(now);
}

std::uint32_t GemmRun::block_bytes(std::uint32_t tile, std::uint32_t block) const {
  const std::uint32_t each = layout_.wavefront_blocks();
  return layout_.block_bytes(layout_.wavefront_bytes(tile, block / each), block % each);
}

Time GemmRun::store_tile(std::int64_t tile, Time now) {
  const Region& region = region_of(tile);
  const auto number = static_cast<std::uint32_t>(tile);
  Time taken = now;
  for (std::uint32_t block = 0; block < layout_.c_blocks(); ++block) {
    const std::uint32_t bytes = block_bytes(number, block);
    if (bytes == 0) continue;
    const BlockId id = layout_.c_block(tile) + block;
    if (region.kind == RegionKind::remote) {
      context_.host->send_block(region.destination, number * layout_.c_blocks() + block, bytes);
    } else if (is_cached(region)) {
      taken = std::max(taken, context_.memory->write(now, base_ + id, bytes, TrafficClass::gemm_write));
    } else {
      const MemoryOp op = region.operation == program::StoreOperation::update ? MemoryOp::update : MemoryOp::write;
      context_.memory->store_uncached(now, {base_ + id, bytes, op, MemoryStream::compute, TrafficClass::gemm_write,
                                            number, block / layout_.wavefront_blocks()});
    }
  }
  return taken;
}

void GemmRun::received(std::uint32_t block, Time now) {
  const std::uint32_t tile = block / layout_.c_blocks();
  const std::uint32_t place = block % layout_.c_blocks();
  const bool update = region_of(tile).operation == program::StoreOperation::update;
  context_.memory->store_uncached(now, {base_ + layout_.c_block(tile) + place, block_bytes(tile, place),
                                        update ? MemoryOp::update : MemoryOp::write, MemoryStream::communication,
                                        TrafficClass::reduce_scatter_write, tile, place / layout_.wavefront_blocks()});
}

void GemmRun::stored(const MemoryRequest& request, Time now) {
  count(request.owner, request.detail, request.bytes, now);
}

void GemmRun::count(std::uint32_t tile, std::uint32_t wavefront, std::uint32_t bytes, Time now) {
  if (!is_tracked(region_of(tile))) return;
  const std::int64_t updates = region_of(tile).updates;
  const auto threshold = static_cast<std::uint32_t>(layout_.wavefront_bytes(tile, wavefront) * updates);
  switch (tracker_.update(tile, wavefront, bytes, threshold)) {
    case TrackerOutcome::counted:
      return;
    case TrackerOutcome::full:
      ++times_.tracker_full;
      held_.push_back({tile, wavefront, bytes});
      return;
    case TrackerOutcome::complete:
      return completed(tile, wavefront, now);
  }
}

void GemmRun::completed(std::uint32_t tile, std::uint32_t wavefront, Time now) {
  --incomplete_;
  if (region_of(tile).kind == RegionKind::dma) transfer(tile, wavefront, now);
  // An entry is free: updates that were held back have another try, in the
  // order in which they came.
  std::vector<Held> again = std::exchange(held_, {});
  for (const Held& held : again) count(held.tile, held.wavefront, held.bytes, now);
  end_if_done(now);
}

void GemmRun::transfer(std::uint32_t tile, std::uint32_t wavefront, Time now) {
  const std::uint32_t each = layout_.wavefront_blocks();
  for (std::uint32_t block = wavefront * each; block < (wavefront + 1) * each; ++block) {
    const std::uint32_t bytes = block_bytes(tile, block);
    if (bytes == 0) continue;
    ++reading_;
    context_.memory->read_uncached(now, base_ + layout_.c_block(tile) + block, bytes, MemoryStream::communication,
                                   TrafficClass::reduce_scatter_read, dma_owner | (tile * layout_.c_blocks() + block));
  }
}

void GemmRun::arrived(std::uint32_t owner, Time at, Time now) {
  if ((owner & dma_owner) == 0) return work_groups_.arrived(owner, at, now);
  // What a DMA has read leaves when its data are there.
  context_.host->wake_gpu(std::max(at, now), {GpuWake::What::block_read, owner & ~dma_owner});
}

// MCA's threshold follows from the first stage, which runs before anything is
// communicated (T3, section 4.5).
void GemmRun::first_stage_ended(Time now) {
  OccupancySum observed;
  const auto channels = context_.memory->channels();
  for (MemoryChannel* channel : channels) observed += channel->end_observation(now);
  const std::uint32_t threshold = threshold_for(observed, IntensityLevels{});
  for (MemoryChannel* channel : channels) channel->set_threshold(now, threshold);
}

void GemmRun::work_groups_ended(Time now) {
  times_.work_groups_ended = now;
  for (MemoryChannel* channel : context_.memory->channels()) channel->producer_ended(now);
  end_if_done(now);
}

void GemmRun::end_if_done(Time now) {
  if (ended_ || incomplete_ > 0 || reading_ > 0 || !work_groups_.ended()) return;
  ended_ = true;
  times_.ended = now;
  context_.host->kernel_ended();
}

}  // namespace tessera::sim
