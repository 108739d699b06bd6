#include "sim/gpu/updater.hpp"

#include <utility>

namespace tessera::sim {

void Updater::store(Time now, const MemoryRequest& request) {
  if (request.op != MemoryOp::update || state_.reduction != program::Reduction::atomics)
    return memory_->push_uncached(now, request);
  std::uint32_t index = state_.free;
  if (index == none) {
    index = static_cast<std::uint32_t>(state_.atomics.size());
    state_.atomics.emplace_back();
  } else {
    state_.free = state_.atomics[index].next;
  }
  state_.atomics[index] = {request, none};
  UpdaterState::Line& line = state_.lines[request.block];
  if (line.first == none) {
    line = {index, index};
    return begin_atomic(index, now);
  }
  state_.atomics[line.last].next = index;
  line.last = index;
}

void Updater::begin_atomic(std::uint32_t index, Time now) {
  const MemoryRequest request = state_.atomics[index].request;
  memory_->read_uncached(now, request.block, request.bytes, request.stream, read_class(request.traffic), own | index);
}

void Updater::arrived(std::uint32_t owner, Time at) { host_->wake_gpu(at, {GpuWake::What::atomic_read, owner & ~own}); }

void Updater::read(std::uint32_t index, Time now) {
  MemoryRequest request = state_.atomics[index].request;
  request.op = MemoryOp::atomic;
  memory_->push_uncached(now, request);
}

void Updater::stored(const MemoryRequest& request, Time now) {
  if (request.op != MemoryOp::atomic) return;
  const auto line = state_.lines.find(request.block);
  const std::uint32_t done = line->second.first;
  const std::uint32_t next = std::exchange(state_.atomics[done].next, state_.free);
  state_.free = done;
  if (next == none) {
    state_.lines.erase(line);
    return;
  }
  line->second.first = next;
  begin_atomic(next, now);
}

}  // namespace tessera::sim
