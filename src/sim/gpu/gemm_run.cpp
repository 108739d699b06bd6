#include "sim/gpu/gemm_run.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/gpu/gpu.hpp"

namespace tessera::sim {
namespace {

using program::Region;

/// Work-groups in order of dispatch, by tile; those that share a tile (split-K) side by side. Rows of A that come later
/// have their turn later: the device's own shard first, then its neighbour's, and so on.
std::vector<std::uint32_t> work_group_order(const program::GemmShape& shape, const GemmLayout& layout,
                                            const program::AddressMap& output, const program::AddressMap& input) {
  std::vector<std::size_t> turn(input.tiles, input.regions.size());  // by row
  for (std::size_t i = input.regions.size(); i-- > 0;)
    std::fill_n(turn.begin() + input.regions[i].first_tile, input.regions[i].tiles, i);
  const auto turn_of = [&](std::uint32_t tile) { return turn[static_cast<std::size_t>(layout.row_of(tile))]; };
  std::vector<std::uint32_t> tiles = dispatch_order(output, static_cast<std::uint32_t>(shape.tiles()));
  std::stable_sort(tiles.begin(), tiles.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return turn_of(a) < turn_of(b); });
  std::vector<std::uint32_t> order;
  for (const std::uint32_t tile : tiles) order.insert(order.end(), static_cast<std::size_t>(shape.split_k), tile);
  return order;
}

}  // namespace

GemmRun::GemmRun(const KernelContext& context, const program::GemmKernel& kernel)
    : context_(context),
      shape_(kernel.shape),
      map_(kernel.address_map(context.rank, context.size)),
      input_(kernel.input_address_map(context.rank, context.size)),
      gathers_input_(program::address_map_kinds()[kernel.input_map].gathers),
      layout_(shape_, context.spec->granularity),
      order_(work_group_order(shape_, layout_, map_, input_)),
      work_groups_(context, shape_, layout_, order_, *this),
      tiles_(context, {map_, gathers_input_ ? &input_ : nullptr}, layout_, kernel.dma_tiles, *this) {
  // All members have maps of one kind: where this one's stores are counted, so are the others'.
  const bool counted =
      std::all_of(map_.regions.begin(), map_.regions.end(), [](const Region& region) { return region.counted_there; });
  for (std::uint32_t rank = 0; !counted && rank < context_.size; ++rank) {
    if (rank != context_.rank) tiles_.expect_from(kernel.address_map(rank, context_.size));
  }
  if (!gathers_input_) return;
  of_row_.resize(input_.tiles);
  for (std::uint32_t i = 0; i < order_.size(); ++i)
    of_row_[static_cast<std::size_t>(layout_.row_of(order_[i]))].push_back(i);
}

void GemmRun::restore(KernelState state) {
  auto& saved = std::get<GemmState>(state);
  work_groups_.restore(std::move(saved.work_groups));
  tiles_.restore(std::move(saved.tiles));
  ended_ = saved.ended;
  computed_ = saved.computed;
}

void GemmRun::begin(Time now) {
  const std::int64_t results = std::max<std::int64_t>(map_.tiles / shape_.tiles(), 1);  // a gathered array holds all
  context_.memory->lay_out(layout_.in_memory(context_.spec->l2_line, results));
  for (MemoryChannel* channel : context_.memory->channels()) {
    channel->producer_began(now);
    channel->begin_observation(now);
  }
  if (gathers_input_) {
    tiles_.begin(now);
  } else {
    std::vector<std::uint32_t> all(order_.size());
    std::iota(all.begin(), all.end(), 0U);
    work_groups_.make_eligible(all, now);
  }
  work_groups_.begin(now);
}

void GemmRun::row_complete(std::uint32_t row, Time now) { work_groups_.make_eligible(of_row_[row], now); }

void GemmRun::wake(const GpuWake& wake, Time now) {
  wake.what == GpuWake::What::block_read ? tiles_.read(wake.index) : work_groups_.wake(wake, now);
}

void GemmRun::arrived(std::uint32_t owner, Time at, Time now) {
  TrackedTiles::is_dma(owner) ? tiles_.arrived(owner, at, now) : work_groups_.arrived(owner, at, now);
}

// Where a tile goes follows from its place in the output address space alone.
Time GemmRun::store_tile(std::int64_t own_tile, std::uint32_t slot, Time now) {
  const std::uint32_t tile = map_.first_own + static_cast<std::uint32_t>(own_tile);
  const TilePlace& place = tiles_.place(tile);
  if (!place.stored_to.empty()) {
    for_each_wavefront(tile, [&](std::uint32_t number) { tiles_.send(number, place.stored_to); });
  }
  if (place.cached()) return store_cached(tile, slot, now);
  if (place.here) store_uncached(tile, slot, now);
  return now;
}

Time GemmRun::store_cached(std::uint32_t tile, std::uint32_t slot, Time now) {
  Time taken = now;
  for_each_wavefront(tile, [&](std::uint32_t number) {
    tiles_.for_each_block(number, [&](BlockId block, std::uint32_t bytes) {
      work_groups_.store_begins(slot);
      const auto stored = context_.memory->write(now, block, bytes, TrafficClass::gemm_write, slot);
      taken = std::max(taken, stored.served);
      if (!stored.waits) work_groups_.store_taken(slot, now);
    });
  });
  return taken;
}

// Partial sums are added to each other, whatever becomes of the tile then.
void GemmRun::store_uncached(std::uint32_t tile, std::uint32_t slot, Time now) {
  const TilePlace& place = tiles_.place(tile);
  const MemoryOp op = place.adds || place.writes > 1 ? MemoryOp::update : MemoryOp::write;
  for_each_wavefront(tile, [&](std::uint32_t number) {
    tiles_.for_each_block(number, [&](BlockId block, std::uint32_t bytes) {
      work_groups_.store_begins(slot);
      context_.updater->store(now, {block, bytes, op, MemoryStream::compute, TrafficClass::gemm_write, number, slot});
    });
  });
}

void GemmRun::stored(const MemoryRequest& request, Time now) {
  tiles_.stored(request, now);
  if (request.detail != TrackedTiles::from_neighbour) work_groups_.store_taken(request.detail, now);
}

// MCA's threshold follows from the first stage, which runs before anything is
// communicated (T3, section 4.5).
void GemmRun::first_stage_ended(Time now) {
  OccupancySum observed;
  const auto channels = context_.memory->channels();
  for (MemoryChannel* channel : channels) observed += channel->end_observation(now);
  IntensityLevels levels;
  std::copy_n(context_.spec->intensity_levels.begin(), levels.from.size(), levels.from.begin());
  const std::uint32_t threshold = threshold_for(observed, levels);
  for (MemoryChannel* channel : channels) channel->set_threshold(now, threshold);
}

void GemmRun::work_groups_ended(Time now) {
  computed_ = now;
  for (MemoryChannel* channel : context_.memory->channels()) channel->producer_ended(now);
  went_on();
}

std::string GemmRun::waits_for() const {
  const std::string text = tiles_.waits_for();
  return work_groups_.ended() ? text : text + " and its work-groups";
}

void GemmRun::went_on() {
  if (ended_ || !tiles_.done() || !work_groups_.ended()) return;
  ended_ = true;
  context_.host->kernel_ended();
}

}  // namespace tessera::sim
