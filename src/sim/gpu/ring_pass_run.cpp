#include "tessera/sim/gpu/ring_pass_run.hpp"

#include <algorithm>
#include <bit>

#include "tessera/base/integers.hpp"

namespace tessera::sim {
namespace {

TrafficClass reads(const program::RingPass& pass) {
  return pass.reduces ? TrafficClass::reduce_scatter_read : TrafficClass::all_gather_read;
}
TrafficClass writes(const program::RingPass& pass) {
  return pass.reduces ? TrafficClass::reduce_scatter_write : TrafficClass::all_gather_write;
}

}  // namespace

RingPassRun::RingPassRun(const KernelContext& context, const program::RingPass& pass)
    : context_(context),
      pass_(pass),
      limit_(context.cus * context.spec->outstanding),
      unit_blocks_(static_cast<std::uint32_t>(ceil_div(context.spec->copy_block, context.spec->granularity))),
      chunk_units_(static_cast<std::uint32_t>(
          ceil_div(ceil_div(pass.bytes, context.size), unit_blocks_ * context.spec->granularity))),
      steps_(context.size - 1),
      received_(context.size, 0) {
  // As many as fit under the limit, and the short last unit of each chunk; a power of two, for the wrap-around.
  const std::int64_t unit = unit_blocks_ * context.spec->granularity;
  work_.resize(std::bit_ceil(static_cast<std::size_t>(limit_ / unit) + context.size + 1));
}

TrafficClass RingPassRun::output_class() const { return writes(pass_); }

std::int64_t RingPassRun::chunk_bytes(std::uint32_t chunk) const {
  return pass_.bytes * (chunk + 1) / context_.size - pass_.bytes * chunk / context_.size;
}

std::uint32_t RingPassRun::units_of(std::uint32_t chunk) const {
  return static_cast<std::uint32_t>(ceil_div(chunk_bytes(chunk), unit_blocks_ * context_.spec->granularity));
}

std::uint32_t RingPassRun::unit_bytes(std::uint32_t chunk, std::uint32_t unit) const {
  const std::int64_t whole = unit_blocks_ * context_.spec->granularity;
  return static_cast<std::uint32_t>(std::min(whole, chunk_bytes(chunk) - unit * whole));
}

template <class Visit>
void RingPassRun::for_each_block(BlockId first, std::uint32_t bytes, Visit&& visit) const {
  const auto granularity = static_cast<std::uint32_t>(context_.spec->granularity);
  for (std::uint32_t at = 0; at < bytes; at += granularity) visit(first++, std::min(granularity, bytes - at));
}

// The first step sends what is here; later ones add what came, unless the memory has added it by itself.
std::uint32_t RingPassRun::copies(std::uint32_t step) const {
  return pass_.reduces && step > 0 && !pass_.near_memory ? 2 : 1;
}

void RingPassRun::begin(Time now) {
  began_ = now;
  context_.memory->lay_out({});
  go_on(now);
}

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

// Loads the next unit, if it is here and there is room for it.
bool RingPassRun::issue(Time now) {
  if (step_ == last_step()) return false;
  const std::uint32_t chunk = chunk_of(step_);
  if (issued_ == units_of(chunk)) {
    ++step_;
    issued_ = 0;
    return step_ < last_step();
  }
  const std::uint32_t bytes = unit_bytes(chunk, issued_);
  const std::int64_t come = issued_ * std::int64_t{unit_blocks_} * context_.spec->granularity + bytes;
  if (step_ > 0 && received_[chunk] < come) return false;
  const std::int64_t size = std::int64_t{bytes} * copies(step_);
  if (under_way_ > 0 && under_way_ + size > limit_) return false;
  if (next_work_ - first_work_ == work_.size()) return false;
  under_way_ += size;
  const auto serial = static_cast<std::uint32_t>(next_work_++ % work_.size());
  work_[serial] = {issued_, 1, now, false};  // 1: as long as it is being asked for
  const BlockId local = first_block(chunk, issued_++);
  const bool from_buffer = step_ > 0 && !(pass_.reduces && pass_.near_memory);
  if (!from_buffer || copies(step_) == 2) load(local, bytes, serial, now);
  if (from_buffer) load(local + blocks(), bytes, serial, now);
  arrived(serial, now, now);
  return true;
}

void RingPassRun::load(BlockId first, std::uint32_t bytes, std::uint32_t owner, Time now) {
  Work& work = work_[owner];
  for_each_block(first, bytes, [&](BlockId block, std::uint32_t size) {
    ++work.missing;
    if (pass_.near_memory) {
      return context_.memory->read_uncached(now, block, size, MemoryStream::communication, reads(pass_), owner);
    }
    const Time there = context_.memory->read(now, block, size, reads(pass_), owner);
    if (there == never) return;
    --work.missing;
    work.there = std::max(work.there, there);
  });
}

void RingPassRun::arrived(std::uint32_t owner, Time at, Time /*now*/) {
  Work& work = work_[owner];
  work.there = std::max(work.there, at);
  if (--work.missing == 0) context_.host->wake_gpu(work.there, {GpuWake::What::block_read, owner});
}

void RingPassRun::wake(const GpuWake& wake, Time now) {
  work_[wake.index].ready = true;
  go_on(now);
}

// Units leave in order, those of a step once its whole chunk has come.
void RingPassRun::finish_ready(Time now) {
  skip_empty();
  while (first_work_ != next_work_ && work_[first_work_ % work_.size()].ready) {
    const std::uint32_t chunk = chunk_of(sending_);
    if (sending_ > 0 && received_[chunk] < chunk_bytes(chunk)) return;
    const std::uint32_t unit = work_[first_work_++ % work_.size()].unit;
    const std::uint32_t bytes = unit_bytes(chunk, unit);
    if (sending_ < steps_) {
      ++departing_;
      const std::uint32_t next = (context_.rank + context_.size - 1) % context_.size;
      context_.host->send_block(next, {chunk * chunk_units_ + unit, bytes, true});
    } else {
      for_each_block(first_block(chunk, unit), bytes, [&](BlockId block, std::uint32_t size) {
        static_cast<void>(context_.memory->write(now, block, size, writes(pass_), 0));
      });
      under_way_ -= std::int64_t{bytes} * copies(sending_);
      again_ = true;  // there is room for more
    }
    if (++sent_ < units_of(chunk)) continue;
    ++sending_;
    sent_ = 0;
    skip_empty();
  }
  end_if_done();
}

// Chunks without bytes have no units: there are fewer rows of units than members.
void RingPassRun::skip_empty() {
  while (sending_ < last_step() && units_of(chunk_of(sending_)) == 0) ++sending_;
}

void RingPassRun::end_if_done() {
  const std::uint32_t last = chunk_of(steps_);
  const bool all_sent = sending_ >= steps_ && departing_ == 0 && first_work_ == next_work_;
  const bool reduced = !pass_.reduces || pass_.near_memory || sending_ > steps_;
  if (ended_ || !all_sent || !reduced || received_[last] < chunk_bytes(last)) return;
  ended_ = true;
  context_.host->kernel_ended();
}

std::string RingPassRun::waits_for() const {
  return "step " + std::to_string(sending_ + 1) + " of a pass round the ring";
}

void RingPassRun::left(std::uint32_t unit, Time now) {
  --departing_;
  const std::uint32_t chunk = unit / chunk_units_;
  const std::uint32_t step = (chunk + context_.size - context_.rank) % context_.size;
  under_way_ -= std::int64_t{unit_bytes(chunk, unit % chunk_units_)} * copies(step);
  go_on(now);
}

void RingPassRun::received(std::uint32_t unit, Time now) {
  const std::uint32_t chunk = unit / chunk_units_;
  const bool update = pass_.reduces && pass_.near_memory;
  bytes_received_ += unit_bytes(chunk, unit % chunk_units_);
  const BlockId first = first_block(chunk, unit % chunk_units_) + (update ? 0 : blocks());
  for_each_block(first, unit_bytes(chunk, unit % chunk_units_), [&](BlockId block, std::uint32_t size) {
    context_.memory->store_uncached(now, {block, size, update ? MemoryOp::update : MemoryOp::write,
                                          MemoryStream::communication, writes(pass_), chunk, 0});
  });
}

// What has come counts when the memory controller has it.
void RingPassRun::stored(const MemoryRequest& request, Time now) {
  received_[request.owner] += request.bytes;
  go_on(now);
}

}  // namespace tessera::sim
