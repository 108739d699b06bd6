#include "sim/gpu/updater.hpp"

#include <utility>

namespace tessera::sim {

void Updater::store(Time now, const MemoryRequest& request) {
  if (request.op != MemoryOp::update || reduction_ != program::Reduction::atomics)
    return memory_->push_uncached(now, request);
  std::uint32_t index = free_;
  if (index == none) {
    index = static_cast<std::uint32_t>(atomics_.size());
    atomics_.emplace_back();
  } else {
    free_ = atomics_[index].next;
  }
  atomics_[index] = {request, none};
  Line& line = lines_[request.block];
  if (line.first == none) {
    line = {index, index};
    return begin_atomic(index, now);
  }
  atomics_[line.last].next = index;
  line.last = index;
}

void Updater::begin_atomic(std::uint32_t index, Time now) {
  const MemoryRequest request = atomics_[index].request;
  memory_->read_uncached(now, request.block, request.bytes, request.stream, read_class(request.traffic), own | index);
}

void Updater::arrived(std::uint32_t owner, Time at) { host_->wake_gpu(at, {GpuWake::What::atomic_read, owner & ~own}); }

void Updater::read(std::uint32_t index, Time now) {
  MemoryRequest request = atomics_[index].request;
  request.op = MemoryOp::atomic;
  memory_->push_uncached(now, request);
}

void Updater::stored(const MemoryRequest& request, Time now) {
  if (request.op != MemoryOp::atomic) return;
  const auto line = lines_.find(request.block);
  const std::uint32_t done = line->second.first;
  const std::uint32_t next = std::exchange(atomics_[done].next, free_);
  free_ = done;
  if (next == none) {
    lines_.erase(line);
    return;
  }
  line->second.first = next;
  begin_atomic(next, now);
}

}  // namespace tessera::sim
