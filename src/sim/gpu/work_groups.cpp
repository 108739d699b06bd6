#include "sim/gpu/work_groups.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace tessera::sim {
namespace {

// Heaps of the least.
void push(std::vector<std::uint32_t>& heap, std::uint32_t value) {
  heap.push_back(value);
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
}

std::uint32_t pop(std::vector<std::uint32_t>& heap) {
  std::pop_heap(heap.begin(), heap.end(), std::greater<>());
  const std::uint32_t least = heap.back();
  heap.pop_back();
  return least;
}

/// Multiply-adds a second.
std::int64_t fma_of_cu(const program::GemmShape& shape, const machine::GpuSpec& spec) {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(shape.peak / 2 / spec.cus) * spec.speed));
}

}  // namespace

WorkGroups::WorkGroups(const KernelContext& context, const program::GemmShape& shape, const GemmLayout& layout,
                       std::vector<std::uint32_t> order, TileSink& sink)
    : context_(context),
      shape_(&shape),
      layout_(&layout),
      order_(std::move(order)),
      sink_(&sink),
      depth_(static_cast<std::uint32_t>(context.spec->prefetch) + 1),
      fma_(fma_of_cu(shape, *context.spec)),
      fixed_time_(std::llround(static_cast<double>(context.spec->work_group_time) / context.spec->speed)) {
  const auto slots = static_cast<std::size_t>(context.cus * context.spec->work_groups_per_cu);
  state_.slots.resize(std::min(slots, order_.size()));
  state_.buffers.resize(state_.slots.size() * depth_);
  state_.cu_free.assign(static_cast<std::size_t>(context.cus), 0);
  first_stage_ = state_.slots.size();
}

void WorkGroups::begin(Time now) {
  state_.begun = true;
  for (std::uint32_t slot = 0; slot < state_.slots.size(); ++slot) push(state_.idle, slot);
  dispatch_idle(now);
}

void WorkGroups::make_eligible(const std::vector<std::uint32_t>& work_groups, Time now) {
  for (const std::uint32_t one : work_groups) push(state_.eligible, one);
  if (state_.begun) dispatch_idle(now);
}

void WorkGroups::dispatch_idle(Time now) {
  while (!state_.idle.empty() && !state_.eligible.empty()) dispatch(pop(state_.idle), now);
}

// Slot s is on CU s modulo their number, so that the first stage spreads over
// all.
void WorkGroups::dispatch(std::uint32_t index, Time now) {
  if (state_.eligible.empty()) return push(state_.idle, index);
  Slot& slot = state_.slots[index];
  slot.storing = false;
  slot.work_group = pop(state_.eligible);
  slot.tile = order_[slot.work_group];
  const std::int64_t part = slot.work_group % shape_->split_k;
  const std::int64_t all = (shape_->k + shape_->tile_k - 1) / shape_->tile_k;
  slot.first = std::min(part * layout_->chunks(), all);
  slot.last = std::min(slot.first + layout_->chunks(), all);
  slot.loading = slot.computing = slot.first;
  slot.busy = true;  // what is answered while it still asks starts nothing
  for (std::uint32_t i = 0; i < depth_; ++i) load(index, now);
  slot.busy = false;
  try_compute(index, now);
}

void WorkGroups::load(std::uint32_t index, Time now) {
  Slot& slot = state_.slots[index];
  if (slot.loading == slot.last) return;
  const std::int64_t chunk = slot.loading++;
  Buffer& held = buffer(index, chunk);
  held = {1, 0};  // as long as it is being asked for, whatever is answered at once
  const std::uint32_t owner = index * depth_ + static_cast<std::uint32_t>(chunk) % depth_;
  load_part(owner, layout_->a_block(slot.tile, chunk), layout_->a_blocks(), layout_->a_bytes(slot.tile, chunk), held,
            now);
  load_part(owner, layout_->b_block(slot.tile, chunk), layout_->b_blocks(), layout_->b_bytes(slot.tile, chunk), held,
            now);
  --held.missing;
}

void WorkGroups::load_part(std::uint32_t owner, BlockId first, std::uint32_t blocks, std::int64_t bytes, Buffer& held,
                           Time now) {
  for (std::uint32_t i = 0; i < blocks; ++i) {
    const std::uint32_t size = layout_->block_bytes(bytes, i);
    if (size == 0) return;
    ++held.missing;
    const Time there = context_.memory->read(now, first + i, size, TrafficClass::gemm_read, owner);
    if (there == never) continue;
    --held.missing;
    held.ready = std::max(held.ready, there);
  }
}

void WorkGroups::arrived(std::uint32_t owner, Time at, Time now) {
  Buffer& held = state_.buffers[owner];
  held.ready = std::max(held.ready, at);
  if (--held.missing > 0) return;
  const std::uint32_t index = owner / depth_;
  const Slot& slot = state_.slots[index];
  const bool awaited =
      !slot.busy && !slot.storing && static_cast<std::uint32_t>(slot.computing) % depth_ == owner % depth_;
  if (awaited) try_compute(index, now);
}

// A chunk is computed when it is here, its predecessor is done, and the CU is
// free.
void WorkGroups::try_compute(std::uint32_t index, Time now) {
  Slot& slot = state_.slots[index];
  const Buffer& held = buffer(index, slot.computing);
  if (held.missing > 0) return;
  if (held.ready > now) return context_.host->wake_gpu(held.ready, {GpuWake::What::slot_ready, index});
  Time& free = state_.cu_free[index % state_.cu_free.size()];
  const std::int64_t fma = shape_->tile_m * shape_->tile_n * layout_->depth(slot.computing);
  free = time_after(std::max(free, now), fma_.up(fma));
  slot.busy = true;
  context_.host->wake_gpu(free, {GpuWake::What::slot_done, index});
}

void WorkGroups::wake(const GpuWake& wake, Time now) {
  const bool storing = state_.slots[wake.index].storing;
  if (wake.what == GpuWake::What::slot_ready) {
    storing ? release(wake.index, now) : try_compute(wake.index, now);
  } else {
    storing ? store(wake.index, now) : computed(wake.index, now);
  }
}

void WorkGroups::computed(std::uint32_t index, Time now) {
  Slot& slot = state_.slots[index];
  ++slot.computing;
  if (slot.computing == slot.last) {
    slot.busy = false;
    slot.storing = true;
    return context_.host->wake_gpu(time_after(now, fixed_time_), {GpuWake::What::slot_done, index});
  }
  load(index, now);  // into the buffer that is free now
  slot.busy = false;
  try_compute(index, now);
}

void WorkGroups::store(std::uint32_t index, Time now) {
  Slot& slot = state_.slots[index];
  slot.stores = 1;  // as long as it still asks
  slot.free_at = sink_->store_tile(slot.tile, index, now);
  store_taken(index, now);
}

void WorkGroups::stored(std::uint32_t index, Time now) {
  const Time free = state_.slots[index].free_at;
  if (free > now) return context_.host->wake_gpu(free, {GpuWake::What::slot_ready, index});
  release(index, now);
}

// The memory system has all that the work-group stored: its slot is free.
void WorkGroups::release(std::uint32_t index, Time now) {
  ++state_.stored;
  if (state_.stored == first_stage_) sink_->first_stage_ended(now);
  if (state_.stored == order_.size()) return sink_->work_groups_ended(now);
  dispatch(index, now);
}

}  // namespace tessera::sim
