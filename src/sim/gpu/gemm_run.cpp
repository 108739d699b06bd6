#include "tessera/sim/gpu/gemm_run.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tessera/sim/gpu/gpu.hpp"

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

GemmRun::GemmRun(const KernelContext& context, const program::GemmKernel& kernel)
    : context_(context),
      kernel_(kernel),
      shape_(kernel.shape),
      map_(kernel.address_map(context.rank, context.size)),
      layout_(shape_, context.spec->granularity),
      work_groups_(context, shape_, layout_, dispatch_order(shape_, map_), *this),
      tracker_(tracker_spec(*context.spec)),
      region_of_(static_cast<std::size_t>(shape_.tiles())),
      wavefronts_(region_of_.size() * static_cast<std::size_t>(shape_.wavefronts)) {
  for (std::size_t index = 0; index < map_.regions.size(); ++index) {
    const Region& region = map_.regions[index];
    std::fill_n(region_of_.begin() + region.first_tile, region.tiles, static_cast<std::uint16_t>(index));
    if (is_tracked(region)) expect(region);
  }
  // All members have maps of one kind: where this one's stores are counted, so are the others'.
  const bool counted =
      std::all_of(map_.regions.begin(), map_.regions.end(), [](const Region& region) { return region.counted_there; });
  for (std::uint32_t rank = 0; !counted && rank < context_.size; ++rank) {
    if (rank != context_.rank) expect_from(kernel_.address_map(rank, context_.size));
  }
}

// What comes for another buffer than this GEMM's own result: nothing counts it, but the kernel waits for it.
void GemmRun::expect_from(const program::AddressMap& other) {
  for (const Region& region : other.regions) {
    if (region.kind != RegionKind::remote || region.counted_there || region.destination != context_.rank) continue;
    const std::uint32_t end = (region.first_tile + region.tiles) * wavefronts();
    for (std::uint32_t number = region.first_tile * wavefronts(); number < end; ++number)
      awaited_ += layout_.wavefront_bytes(number / wavefronts(), number % wavefronts()) > 0 ? 1 : 0;
  }
}

// Wavefronts beyond the edge of the matrix write nothing, and nothing is expected of them.
void GemmRun::expect(const Region& region) {
  const std::uint32_t first = region.first_tile * wavefronts();
  const std::uint32_t end = first + region.tiles * wavefronts();
  DmaCommand command;
  for (std::uint32_t number = first; number < end; ++number) {
    const bool writes = layout_.wavefront_bytes(number / wavefronts(), number % wavefronts()) > 0;
    incomplete_ += writes ? 1 : 0;
    if (region.kind != RegionKind::dma) continue;
    if (command.tiles == 0) command.first_tile = number;
    command.tiles += writes ? 1 : 0;
    wavefronts_[number].command = static_cast<std::uint32_t>(commands_.size());
    const bool whole = number + 1 - command.first_tile == static_cast<std::uint32_t>(kernel_.dma_tiles);
    if (command.tiles > 0 && (whole || number + 1 == end)) {
      command.wavefronts = number + 1 - command.first_tile;
      static_cast<void>(commands_.add(command));
      command = {};
    }
  }
}

void GemmRun::begin(Time now) {
  context_.memory->lay_out(layout_.runs());
  for (MemoryChannel* channel : context_.memory->channels()) {
    channel->producer_began(now);
    channel->begin_observation(now);
  }
  tracker_.begin(static_cast<std::uint32_t>(shape_.tiles()));
  work_groups_.begin(now);
}

void GemmRun::wake(const GpuWake& wake, Time now) {
  if (wake.what != GpuWake::What::block_read) return work_groups_.wake(wake, now);
  const std::uint32_t tile = wake.index / wavefronts();
  send(tile, wake.index % wavefronts());
  --reading_;
  end_if_done();
}

// A wavefront's tile is one message.
void GemmRun::send(std::uint32_t tile, std::uint32_t wavefront) {
  const auto bytes = static_cast<std::uint32_t>(layout_.wavefront_bytes(tile, wavefront));
  context_.host->send_block(region_of(tile).destination, {tile * wavefronts() + wavefront, bytes, false});
}

std::uint32_t GemmRun::block_bytes(std::uint32_t tile, std::uint32_t block) const {
  const std::uint32_t each = layout_.wavefront_blocks();
  return layout_.block_bytes(layout_.wavefront_bytes(tile, block / each), block % each);
}

Time GemmRun::store_tile(std::int64_t tile, std::uint32_t slot, Time now) {
  const Region& region = region_of(tile);
  const auto number = static_cast<std::uint32_t>(tile);
  if (region.kind == RegionKind::remote) {
    for (std::uint32_t wavefront = 0; wavefront < wavefronts(); ++wavefront) {
      if (layout_.wavefront_bytes(number, wavefront) > 0) send(number, wavefront);
    }
    return now;
  }
  Time taken = now;
  for (std::uint32_t block = 0; block < layout_.c_blocks(); ++block) {
    const std::uint32_t bytes = block_bytes(number, block);
    if (bytes == 0) continue;
    const BlockId id = layout_.c_block(tile) + block;
    if (is_cached(region)) {
      work_groups_.store_begins(slot);
      const auto stored = context_.memory->write(now, id, bytes, TrafficClass::gemm_write, slot);
      taken = std::max(taken, stored.served);
      if (!stored.waits) work_groups_.store_taken(slot, now);
    } else {
      const MemoryOp op = region.operation == program::StoreOperation::update ? MemoryOp::update : MemoryOp::write;
      work_groups_.store_begins(slot);
      context_.memory->store_uncached(now, {id, bytes, op, MemoryStream::compute, TrafficClass::gemm_write, number,
                                            slot << slot_shift | block / layout_.wavefront_blocks()});
    }
  }
  return taken;
}

void GemmRun::received(std::uint32_t number, Time now) {
  const std::uint32_t tile = number / wavefronts();
  const std::uint32_t wavefront = number % wavefronts();
  const bool update = region_of(tile).operation == program::StoreOperation::update;
  const bool counted = is_tracked(region_of(tile));
  bytes_received_ += layout_.wavefront_bytes(tile, wavefront);
  const std::uint32_t each = layout_.wavefront_blocks();
  for (std::uint32_t block = wavefront * each; block < (wavefront + 1) * each; ++block) {
    const std::uint32_t bytes = block_bytes(tile, block);
    if (bytes == 0) break;
    context_.memory->store_uncached(
        now,
        {layout_.c_block(tile) + block, bytes, update ? MemoryOp::update : MemoryOp::write, MemoryStream::communication,
         counted ? TrafficClass::reduce_scatter_write : TrafficClass::other, tile, no_slot << slot_shift | wavefront});
  }
  if (counted) return;
  --awaited_;
  end_if_done();
}

void GemmRun::stored(const MemoryRequest& request, Time now) {
  count(request.owner, request.detail & ((1U << slot_shift) - 1), request.bytes, now);
  const std::uint32_t slot = request.detail >> slot_shift;
  if (slot != no_slot) work_groups_.store_taken(slot, now);
}

void GemmRun::count(std::uint32_t tile, std::uint32_t wavefront, std::uint32_t bytes, Time now) {
  if (!is_tracked(region_of(tile))) return;
  const std::int64_t updates = region_of(tile).updates;
  const auto threshold = static_cast<std::uint32_t>(layout_.wavefront_bytes(tile, wavefront) * updates);
  switch (tracker_.update(tile, wavefront, bytes, threshold)) {
    case TrackerOutcome::counted:
      return;
    case TrackerOutcome::full:
      ++held_back_;
      held_.push_back({tile, wavefront, bytes});
      return;
    case TrackerOutcome::complete:
      return completed(tile, wavefront, now);
  }
}

void GemmRun::completed(std::uint32_t tile, std::uint32_t wavefront, Time now) {
  --incomplete_;
  const std::uint32_t command = wavefronts_[tile * wavefronts() + wavefront].command;
  if (region_of(tile).kind == RegionKind::dma && commands_.tile_complete(command)) carry_out(command, now);
  // An entry is free: updates that were held back have another try, in the
  // order in which they came.
  std::vector<Held> again = std::exchange(held_, {});
  for (const Held& held : again) count(held.tile, held.wavefront, held.bytes, now);
  end_if_done();
}

void GemmRun::carry_out(std::uint32_t number, Time now) {
  const DmaCommand& command = commands_.fire(number);
  const std::uint32_t end = command.first_tile + command.wavefronts;
  for (std::uint32_t i = command.first_tile; i < end; ++i) read_out(i / wavefronts(), i % wavefronts(), now);
}

void GemmRun::read_out(std::uint32_t tile, std::uint32_t wavefront, Time now) {
  const std::uint32_t each = layout_.wavefront_blocks();
  const std::uint32_t number = tile * wavefronts() + wavefront;
  if (layout_.wavefront_bytes(tile, wavefront) == 0) return;
  ++reading_;
  wavefronts_[number].reading = 1;  // as long as it is being asked for, whatever is answered at once
  for (std::uint32_t block = wavefront * each; block < (wavefront + 1) * each; ++block) {
    const std::uint32_t bytes = block_bytes(tile, block);
    if (bytes == 0) break;
    ++wavefronts_[number].reading;
    context_.memory->read_uncached(now, layout_.c_block(tile) + block, bytes, MemoryStream::communication,
                                   TrafficClass::reduce_scatter_read, dma_owner | number);
  }
  arrived(dma_owner | number, now, now);
}

void GemmRun::arrived(std::uint32_t owner, Time at, Time now) {
  if ((owner & dma_owner) == 0) return work_groups_.arrived(owner, at, now);
  // What a DMA has read leaves when all data of the wavefront's tile are there.
  Wavefront& read = wavefronts_[owner & ~dma_owner];
  read.there = std::max(read.there, std::max(at, now));
  if (--read.reading == 0) context_.host->wake_gpu(read.there, {GpuWake::What::block_read, owner & ~dma_owner});
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
  computed_ = now;
  for (MemoryChannel* channel : context_.memory->channels()) channel->producer_ended(now);
  end_if_done();
}

std::string GemmRun::waits_for() const {
  std::string text = "updates of " + std::to_string(incomplete_) + " wavefront tiles";
  if (!held_.empty()) text += " (" + std::to_string(held_.size()) + " updates are held back by a full Tracker)";
  return work_groups_.ended() ? text : text + " and its work-groups";
}

void GemmRun::end_if_done() {
  if (ended_ || incomplete_ > 0 || reading_ > 0 || awaited_ > 0 || !work_groups_.ended()) return;
  ended_ = true;
  context_.host->kernel_ended();
}

}  // namespace tessera::sim
