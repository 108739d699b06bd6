#include "sim/gpu/copy_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "tessera/base/integers.hpp"

namespace tessera::sim {
namespace {

using program::CopyKernel;
using program::CopyKind;
using program::CopyStep;

TrafficClass reads(const CopyKernel& kernel) {
  switch (kernel.kind) {
    case CopyKind::reduce_scatter:
      return TrafficClass::reduce_scatter_read;
    case CopyKind::all_gather:
      return TrafficClass::all_gather_read;
    default:
      return TrafficClass::other;
  }
}
TrafficClass writes(const CopyKernel& kernel) { return written_class(reads(kernel)); }

std::uint32_t copies(const CopyStep& step) { return (step.own ? 1 : 0) + (step.other ? 1 : 0); }

}  // namespace

CopyRun::CopyRun(const KernelContext& context, const CopyKernel& kernel)
    : context_(context),
      kernel_(kernel),
      plan_(copy_steps(kernel, context.rank, context.size)),
      limit_(context.cus * context.spec->outstanding),
      unit_blocks_(static_cast<std::uint32_t>(ceil_div(context.spec->copy_block, context.spec->granularity))),
      chunk_units_(units_of(ceil_div(kernel.bytes, context.size))),
      step_of_slot_(context.size, 0) {
  state_.received.resize(context.size);
  state_.missing = std::accumulate(plan_.expected.begin(), plan_.expected.end(), std::int64_t{0});
  for (std::uint32_t step = 0; step < plan_.steps.size(); ++step) step_of_slot_[plan_.steps[step].slot] = step;
  // As many as fit under the limit, and the short last unit of each chunk; a power of two, for the wrap-around.
  const std::int64_t unit = unit_blocks_ * context.spec->granularity;
  state_.work.resize(std::bit_ceil(static_cast<std::size_t>(limit_ / unit) + context.size + 1));
  if (!at_end({}) && !exists({})) state_.loading = next({});
  state_.sending = state_.loading;
}

TrafficClass CopyRun::output_class() const { return writes(kernel_); }

bool CopyRun::updates() const {
  return kernel_.near_memory && (kernel_.kind == CopyKind::reduce_scatter || kernel_.kind == CopyKind::add);
}

std::int64_t CopyRun::read_bytes(const CopyStep& step) const { return chunk_bytes(kernel_, step.chunk, context_.size); }

std::uint32_t CopyRun::units_of(std::int64_t bytes) const {
  return static_cast<std::uint32_t>(ceil_div(bytes, unit_blocks_ * context_.spec->granularity));
}

std::uint32_t CopyRun::unit_bytes(std::int64_t bytes, std::uint32_t unit) const {
  const std::int64_t whole = unit_blocks_ * context_.spec->granularity;
  return static_cast<std::uint32_t>(std::min(whole, bytes - unit * whole));
}

template <class Visit>
void CopyRun::for_each_block(BlockId first, std::uint32_t bytes, Visit&& visit) const {
  const auto granularity = static_cast<std::uint32_t>(context_.spec->granularity);
  for (std::uint32_t at = 0; at < bytes; at += granularity) visit(first++, std::min(granularity, bytes - at));
}

void CopyRun::begin(Time now) {
  state_.began = now;
  context_.memory->lay_out({});
  go_on(now);
}

// What is done here may be answered at once, which comes back here.
void CopyRun::go_on(Time now) {
  state_.again = true;
  if (state_.going_on) return;
  state_.going_on = true;
  while (state_.again) {
    state_.again = false;
    while (issue(now)) {
    }
    finish_ready(now);
  }
  state_.going_on = false;
}

// Chunks without bytes have no units: there are fewer bytes than members.
bool CopyRun::exists(const Cursor& at) const { return at.unit < units_of(read_bytes(plan_.steps[at.step])); }

CopyRun::Cursor CopyRun::next(Cursor at) const {
  const auto steps = static_cast<std::uint32_t>(plan_.steps.size());
  do {
    if (plan_.in_turn) {
      at = at.step + 1 < steps ? Cursor{at.step + 1, at.unit} : Cursor{0, at.unit + 1};
      if (at.unit == chunk_units_) return {steps, 0};
    } else {
      at = exists({at.step, at.unit + 1}) ? Cursor{at.step, at.unit + 1} : Cursor{at.step + 1, 0};
    }
  } while (!at_end(at) && !exists(at));
  return at;
}

// Loads the next unit, if it is here and there is room for it.
bool CopyRun::issue(Time now) {
  if (at_end(state_.loading)) return false;
  const CopyStep& step = plan_.steps[state_.loading.step];
  const std::uint32_t bytes = unit_bytes(read_bytes(step), state_.loading.unit);
  const std::int64_t come = state_.loading.unit * std::int64_t{unit_blocks_} * context_.spec->granularity + bytes;
  if (step.waits && state_.received[step.slot] < come) return false;
  const std::int64_t size = std::int64_t{bytes} * copies(step);
  if (state_.under_way > 0 && state_.under_way + size > limit_) return false;
  if (state_.next_work - state_.first_work == state_.work.size()) return false;
  state_.under_way += size;
  const auto serial = static_cast<std::uint32_t>(state_.next_work++ % state_.work.size());
  state_.work[serial] = {1, now, false};  // 1: as long as it is being asked for
  const BlockId local = first_block(step.chunk, state_.loading.unit);
  state_.loading = next(state_.loading);
  if (step.own) load(local, bytes, serial, now);
  if (step.other) load(local + blocks(), bytes, serial, now);
  arrived(serial, now, now);
  return true;
}

void CopyRun::load(BlockId first, std::uint32_t bytes, std::uint32_t owner, Time now) {
  Work& work = state_.work[owner];
  for_each_block(first, bytes, [&](BlockId block, std::uint32_t size) {
    ++work.missing;
    if (kernel_.near_memory) {
      return context_.memory->read_uncached(now, block, size, MemoryStream::communication, reads(kernel_), owner);
    }
    const Time there = context_.memory->read(now, block, size, reads(kernel_), owner);
    if (there == never) return;
    --work.missing;
    work.there = std::max(work.there, there);
  });
}

void CopyRun::arrived(std::uint32_t owner, Time at, Time /*now*/) {
  Work& work = state_.work[owner];
  work.there = std::max(work.there, at);
  if (--work.missing == 0) context_.host->wake_gpu(work.there, {GpuWake::What::block_read, owner});
}

void CopyRun::wake(const GpuWake& wake, Time now) {
  state_.work[wake.index].ready = true;
  go_on(now);
}

// Units leave in order, those of a step once all that it waits for has come.
void CopyRun::finish_ready(Time now) {
  while (state_.first_work != state_.next_work && state_.work[state_.first_work % state_.work.size()].ready) {
    const CopyStep& step = plan_.steps[state_.sending.step];
    if (step.waits && state_.received[step.slot] < plan_.expected[step.slot]) return;
    ++state_.first_work;
    const std::uint32_t unit = state_.sending.unit;
    state_.sending = next(state_.sending);
    put(step, unit, now);
  }
  end_if_done();
}

void CopyRun::put(const CopyStep& step, std::uint32_t unit, Time now) {
  const std::uint32_t bytes = unit_bytes(read_bytes(step), unit);
  if (step.destination != context_.rank) {
    ++state_.departing;
    return context_.host->send_block(step.destination, {step.slot * chunk_units_ + unit, bytes, true});
  }
  state_.under_way -= std::int64_t{bytes} * copies(step);
  state_.again = true;  // there is room for more
  const BlockId first = first_block(step.chunk, unit);
  if (updates()) return store_uncached(first, bytes, step.slot, now);
  for_each_block(first, bytes, [&](BlockId block, std::uint32_t size) {
    static_cast<void>(context_.memory->write(now, block, size, writes(kernel_), MemorySystem::nobody));
  });
}

void CopyRun::end_if_done() {
  if (state_.ended || !at_end(state_.sending) || state_.departing > 0 || state_.first_work != state_.next_work ||
      state_.missing > 0)
    return;
  state_.ended = true;
  context_.host->kernel_ended();
}

std::string CopyRun::waits_for() const {
  return fmt::format("step {} of {} of a kernel that copies",
                     std::min<std::size_t>(state_.sending.step + 1, plan_.steps.size()), plan_.steps.size());
}

void CopyRun::left(std::uint32_t unit, Time now) {
  --state_.departing;
  const CopyStep& step = plan_.steps[step_of_slot_[unit / chunk_units_]];
  state_.under_way -= std::int64_t{unit_bytes(read_bytes(step), unit % chunk_units_)} * copies(step);
  go_on(now);
}

void CopyRun::received(std::uint32_t unit, Time now) {
  const std::uint32_t slot = unit / chunk_units_;
  const std::uint32_t bytes = unit_bytes(plan_.expected[slot], unit % chunk_units_);
  state_.bytes_received += bytes;
  store_uncached(first_block(slot, unit % chunk_units_) + (updates() ? 0 : blocks()), bytes, slot, now);
}

void CopyRun::store_uncached(BlockId first, std::uint32_t bytes, std::uint32_t slot, Time now) {
  const MemoryOp op = updates() ? MemoryOp::update : MemoryOp::write;
  for_each_block(first, bytes, [&](BlockId block, std::uint32_t size) {
    context_.memory->push_uncached(now, {block, size, op, MemoryStream::communication, writes(kernel_), slot, 0});
  });
}

// What has come counts when the memory controller has it.
void CopyRun::stored(const MemoryRequest& request, Time now) {
  state_.received[request.owner] += request.bytes;
  state_.missing -= request.bytes;
  go_on(now);
}

}  // namespace tessera::sim
