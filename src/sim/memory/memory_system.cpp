#include "tessera/sim/memory/memory_system.hpp"

#include <algorithm>
#include <utility>

namespace tessera::sim {

MemorySystem::Channel::Channel(const MemorySystemSpec& spec, MemorySystem& owner, std::uint32_t index)
    : system(&owner), number(index), channel(spec.channel, make_arbitration(spec.arbitration), *this) {}

MemorySystem::MemorySystem(const MemorySystemSpec& spec, MemoryClient& client)
    : spec_(spec),
      client_(&client),
      cache_(spec.cache),
      spread_(spec.channels),
      data_at_(cache_.entries(), 0),
      first_waiter_(cache_.entries(), none) {
  for (std::uint32_t index = 0; index < spec.channels; ++index) channels_.emplace_back(spec, *this, index);
}

std::vector<MemoryChannel*> MemorySystem::channels() {
  std::vector<MemoryChannel*> all;
  for (Channel& channel : channels_) all.push_back(&channel.channel);
  return all;
}

std::vector<const MemoryChannel*> MemorySystem::channels() const {
  std::vector<const MemoryChannel*> all;
  for (const Channel& channel : channels_) all.push_back(&channel.channel);
  return all;
}

void MemorySystem::lay_out(const MatrixRuns& runs) {
  for (Channel& channel : channels_) channel.channel.set_runs(runs);
}

void MemorySystem::arbitrate(Time now, const std::string& policy) {
  if (policy == spec_.arbitration.policy) return;
  spec_.arbitration.policy = policy;
  for (Channel& channel : channels_) channel.channel.set_policy(now, make_arbitration(spec_.arbitration));
}

void MemorySystem::push(Time now, const MemoryRequest& request) {
  channels_[spread_.place(request.block).index].channel.push(now, request);
}

Time MemorySystem::read(Time now, BlockId block, std::uint32_t bytes, TrafficClass traffic, std::uint32_t owner) {
  const Time served = time_after(cache_.bank_time(block, bytes, now), spec_.cache.hit_latency);
  const CacheResult result = cache_.read(block, bytes);
  switch (result.outcome) {
    case CacheOutcome::hit:
      // A block counts as held from the moment when its fetch is certain; its
      // data may be on their way.
      return std::max(served, data_at_[result.entry]);
    case CacheOutcome::pending:
      wait(result.entry, owner);
      return never;
    case CacheOutcome::miss:
      wait(result.entry, owner);
      write_victim_back(now, result, traffic);
      push(now, {block, bytes, MemoryOp::read, MemoryStream::compute, traffic, result.entry, fetch});
      return never;
    case CacheOutcome::no_room:
      break;
  }
  read_uncached(now, block, bytes, MemoryStream::compute, traffic, owner);
  return never;
}

void MemorySystem::read_uncached(Time now, BlockId block, std::uint32_t bytes, MemoryStream stream,
                                 TrafficClass traffic, std::uint32_t owner) {
  push(now, {block, bytes, MemoryOp::read, stream, traffic, owner, direct_read});
}

MemorySystem::Stored MemorySystem::write(Time now, BlockId block, std::uint32_t bytes, TrafficClass traffic,
                                         std::uint32_t owner) {
  Stored stored{cache_.bank_time(block, bytes, now), false};
  const CacheResult result = cache_.write(block, bytes);
  MemoryRequest leaving{block, bytes, MemoryOp::write, MemoryStream::compute, traffic, owner, room};
  if (result.outcome != CacheOutcome::no_room) {
    data_at_[result.entry] = stored.served;
    leaving.block = result.victim;
    leaving.bytes = result.victim_bytes;
  }
  stored.waits = leaving.bytes > 0;
  if (stored.waits) push(now, leaving);
  return stored;
}

void MemorySystem::store_uncached(Time now, const MemoryRequest& request) { push(now, request); }

void MemorySystem::flush(Time now, TrafficClass traffic) {
  cache_.flush([&](BlockId block, std::uint32_t bytes) {
    push(now, {block, bytes, MemoryOp::write, MemoryStream::compute, traffic, 0, write_back});
  });
}

// A victim is counted as what the kernel that pushes it out writes.
void MemorySystem::write_victim_back(Time now, const CacheResult& result, TrafficClass traffic) {
  if (result.victim_bytes == 0) return;
  const TrafficClass writes = written_class(traffic);
  push(now, {result.victim, result.victim_bytes, MemoryOp::write, MemoryStream::compute, writes, 0, write_back});
}

void MemorySystem::wait(std::uint32_t entry, std::uint32_t owner) {
  std::uint32_t index = free_waiter_;
  if (index == none) {
    index = static_cast<std::uint32_t>(waiters_.size());
    waiters_.emplace_back();
  } else {
    free_waiter_ = waiters_[index].next;
  }
  waiters_[index] = {owner, first_waiter_[entry]};
  first_waiter_[entry] = index;
}

void MemorySystem::enqueued(const MemoryRequest& request, Time now) {
  if (request.op == MemoryOp::read || request.detail == write_back) return;
  request.detail == room ? client_->room_made(request.owner, now) : client_->stored(request, now);
}

void MemorySystem::done(const MemoryRequest& request, Time at) {
  client_->served(request, at);
  if (request.op != MemoryOp::read) return;
  if (request.detail == direct_read) return client_->arrived(request.owner, at);
  const std::uint32_t entry = cache_.fill(request.block);
  const Time there = time_after(at, spec_.cache.hit_latency);
  data_at_[entry] = there;
  std::uint32_t index = std::exchange(first_waiter_[entry], none);
  while (index != none) {
    const Waiter waiter = waiters_[index];
    waiters_[index].next = free_waiter_;
    free_waiter_ = index;
    index = waiter.next;
    client_->arrived(waiter.owner, there);
  }
}

}  // namespace tessera::sim
