#include "tessera/sim/gpu/ring_pass_run.hpp"

#include <algorithm>
#include <bit>

namespace tessera::sim {
namespace {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

TrafficClass reads(const program::RingPass& pass) {
  return pass.reduces ? TrafficClass::reduce_scatter_read : TrafficClass::all_gather_read;
}
TrafficClass writes(const program::RingPass& pass) {
  return pass.reduces ? TrafficClass::reduce_scatter_write : TrafficClass::all_gather_write;
}

}  // namespace

RingPassRun::RingPassRun(const KernelContext& context, const program::RingPass& pass, std::int64_t cus, BlockId base)
    : context_(context),
      pass_(pass),
      base_(base),
      limit_(cus * context.spec->outstanding),
      chunk_blocks_(
          static_cast<std::uint32_t>(ceil_div(ceil_div(pass.bytes, context.size), context.spec->granularity))),
      steps_(context.size - 1),
      received_(context.size, 0) {
  // As many as fit under the limit, and the short last block of each chunk; a power of two, for the wrap-around.
  work_.resize(std::bit_ceil(static_cast<std::size_t>(limit_ / context.spec->granularity) + context.size + 1));
}

std::uint32_t RingPassRun::blocks_of(std::uint32_t chunk) const {
  const std::int64_t bytes = pass_.bytes * (chunk + 1) / context_.size - pass_.bytes * chunk / context_.size;
  return static_cast<std::uint32_t>(ceil_div(bytes, context_.spec->granularity));
}

std::uint32_t RingPassRun::block_bytes(std::uint32_t chunk, std::uint32_t block) const {
  const std::int64_t bytes = pass_.bytes * (chunk + 1) / context_.size - pass_.bytes * chunk / context_.size;
  return static_cast<std::uint32_t>(std::min(context_.spec->granularity, bytes - block * context_.spec->granularity));
}

// The first step sends what is here; later ones add what came, unless the
// memory has added it by itself.
std::uint32_t RingPassRun::copies(std::uint32_t step) const {
  return pass_.reduces && step > 0 && !pass_.near_memory ? 2 : 1;
}

void RingPassRun::begin(Time now) { go_on(now); }

// What is done here may be answered at once, which comes back here.
void RingPassRun::go_on(Time now) {
  again_ = true;
  if (going_on_) return;
  going_on_ = true;
  while (again_) {
    again_ = false;
    while (issue(now)) {
    }
    finish_ready(now);
  }
  going_on_ = false;
}

// Loads the next block, if it is here and there is room for it.
bool RingPassRun::issue(Time now) {
  const std::uint32_t last = pass_.reduces && !pass_.near_memory ? steps_ + 1 : steps_;
  if (step_ == last) return false;
  const std::uint32_t chunk = chunk_of(step_);
  if (issued_ == blocks_of(chunk)) {
    ++step_;
    issued_ = 0;
    return step_ < last;
  }
  if (step_ > 0 && received_[chunk] <= issued_) return false;
  const std::uint32_t bytes = block_bytes(chunk, issued_);
  const std::int64_t size = std::int64_t{bytes} * copies(step_);
  if (under_way_ > 0 && under_way_ + size > limit_) return false;
  if (next_work_ - first_work_ == work_.size()) return false;
  under_way_ += size;
  const auto serial = static_cast<std::uint32_t>(next_work_++ % work_.size());
  Work& work = work_[serial];
  work = {issued_, 0, false};
  const BlockId local = base_ + chunk * chunk_blocks_ + issued_++;
  const bool from_buffer = step_ > 0 && !(pass_.reduces && pass_.near_memory);
  if (!from_buffer || copies(step_) == 2) load(local, bytes, serial, work, now);
  if (from_buffer) load(local + blocks(), bytes, serial, work, now);
  return true;
}

void RingPassRun::load(BlockId block, std::uint32_t bytes, std::uint32_t owner, Work& work, Time now) {
  ++work.missing;
  if (pass_.near_memory) {
    return context_.memory->read_uncached(now, block, bytes, MemoryStream::communication, reads(pass_), owner);
  }
  const Time there = context_.memory->read(now, block, bytes, reads(pass_), owner);
  if (there != never) context_.host->wake_gpu(there, {GpuWake::What::block_read, owner});
}

void RingPassRun::arrived(std::uint32_t owner, Time at, Time now) {
  context_.host->wake_gpu(std::max(at, now), {GpuWake::What::block_read, owner});
}

void RingPassRun::wake(const GpuWake& wake, Time now) {
  Work& work = work_[wake.index];
  if (--work.missing == 0) work.ready = true;
  go_on(now);
}

// Blocks leave in order, those of a step once its whole chunk has come.
void RingPassRun::finish_ready(Time now) {
  while (first_work_ != next_work_ && work_[first_work_ % work_.size()].ready) {
    const std::uint32_t chunk = chunk_of(sending_);
    if (sending_ > 0 && received_[chunk] < blocks_of(chunk)) return;
    const std::uint32_t block = work_[first_work_++ % work_.size()].block;
    const std::uint32_t bytes = block_bytes(chunk, block);
    if (sending_ < steps_) {
      ++departing_;
      context_.host->send_block((context_.rank + context_.size - 1) % context_.size, chunk * chunk_blocks_ + block,
                                bytes);
    } else {
      static_cast<void>(context_.memory->write(now, base_ + chunk * chunk_blocks_ + block, bytes, writes(pass_)));
      release(bytes * copies(sending_));
      again_ = true;  // there is room for more
    }
    if (++sent_ < blocks_of(chunk)) continue;
    ++sending_;
    sent_ = 0;
  }
  const std::uint32_t last = chunk_of(steps_);
  const bool all_sent = sending_ >= steps_ && departing_ == 0 && first_work_ == next_work_;
  const bool reduced = !pass_.reduces || pass_.near_memory || sending_ > steps_;
  if (ended_ || !all_sent || !reduced || received_[last] < blocks_of(last)) return;
  ended_ = true;
  context_.host->kernel_ended();
}

void RingPassRun::release(std::uint32_t bytes) { under_way_ -= bytes; }

void RingPassRun::left(std::uint32_t block, Time now) {
  --departing_;
  const std::uint32_t chunk = block / chunk_blocks_;
  const std::uint32_t step = (chunk + context_.size - context_.rank) % context_.size;
  release(block_bytes(chunk, block % chunk_blocks_) * copies(step));
  go_on(now);
}

void RingPassRun::received(std::uint32_t block, Time now) {
  const std::uint32_t chunk = block / chunk_blocks_;
  const bool update = pass_.reduces && pass_.near_memory;
  const BlockId id = base_ + block + (update ? 0 : blocks());
  context_.memory->store_uncached(
      now, {id, block_bytes(chunk, block % chunk_blocks_), update ? MemoryOp::update : MemoryOp::write,
            MemoryStream::communication, writes(pass_), block, 0});
}

// What has come counts when the memory controller has it.
void RingPassRun::stored(const MemoryRequest& request, Time now) {
  ++received_[request.owner / chunk_blocks_];
  go_on(now);
}

}  // namespace tessera::sim
