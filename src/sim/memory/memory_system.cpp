#include "sim/memory/memory_system.hpp"

#include <algorithm>
#include <utility>

namespace tessera::sim {

MemorySystem::Channel::Channel(const MemorySystemSpec& spec, MemorySystem& owner, std::uint32_t index)
    : system(&owner), number(index), channel(spec.channel, make_arbitration(spec.arbitration), *this) {}

MemorySystem::MemorySystem(const MemorySystemSpec& spec, MemoryClient& client)
    : spec_(spec),
      client_(&client),
      spread_(spec.channels),
      banks_of_channel_(std::max(spec.cache.banks / spec.channels, 1U)),
      state_{spec.arbitration.policy, Cache(spec.cache)} {
  state_.banks.resize(spec.cache.banks);
  state_.turn.resize(spec.channels);
  state_.fetches.resize(state_.cache.entries());
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

void MemorySystem::arbitrate(Time now, const std::string& policy) {
  if (policy == state_.policy) return;
  state_.policy = policy;
  for (Channel& channel : channels_) channel.channel.set_policy(now, arbitration());
}

ArbitrationPointer MemorySystem::arbitration() const {
  ArbitrationSpec spec = spec_.arbitration;
  spec.policy = state_.policy;
  return make_arbitration(spec);
}

SavedMemory MemorySystem::save() const {
  SavedMemory saved{state_, {}};
  for (const Channel& channel : channels_) saved.channels.push_back(channel.channel.state());
  return saved;
}

void MemorySystem::restore(SavedMemory saved) {
  state_ = std::move(saved.memory);
  for (Channel& channel : channels_) channel.channel.restore(std::move(saved.channels[channel.number]), arbitration());
}

L2Access MemorySystem::access(L2Access::Kind kind, const MemoryRequest& request) const {
  const MemoryBlocks blocks = state_.layout.find(request.block);
  return {kind, request, blocks, spread_.place(blocks.first)};
}

void MemorySystem::push_to(BlockSpread::Place place, Time now, MemoryRequest request) {
  request.place = place.run;
  channels_[place.index].channel.push(now, request);
}

/// Pieces of several lines: an access each. What is told once is told of the last.
void MemorySystem::push_all(const MemoryBlocks& blocks, Time now, MemoryRequest request) {
  const std::uint32_t count = accesses(blocks, request.bytes);
  const std::uint64_t all = request.bytes;
  const std::uint32_t detail = request.detail;
  if (detail == direct_read || detail == room) request.detail = silent;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (i + 1 == count) request.detail = detail;
    request.bytes = static_cast<std::uint32_t>(all * (i + 1) / count - all * i / count);
    push_to(spread_.place(blocks.first + i * blocks.apart), now, request);
  }
}

void MemorySystem::wake(Time now, std::uint32_t number) {
  channels_[number].channel.wake(now);
  // The banks take turns, an access each, until all that still wait are held up.
  std::uint32_t& turn = state_.turn[number];
  const std::uint32_t first = number * banks_of_channel_ % static_cast<std::uint32_t>(state_.banks.size());
  for (std::uint32_t idle = 0; idle < banks_of_channel_;) {
    const std::uint32_t bank = first + turn;
    turn = turn + 1 < banks_of_channel_ ? turn + 1 : 0;
    idle = serve_one(bank, now) ? 0 : idle + 1;
  }
}

MemorySystem::Answer MemorySystem::come(const L2Access& access, Time now) {
  const std::uint32_t number = bank_of(access.place);
  L2Bank& bank = state_.banks[number];
  if (bank.serving || !bank.waiting.empty() || held_up(access, now)) {
    bank.waiting.push(access);
    return std::nullopt;
  }
  bank.serving = true;
  const Stored result = carry_out(access, now);
  bank.serving = false;
  while (serve_one(number, now)) {
  }
  return result;
}

/// Serves what has waited longest in a bank, if it can.
bool MemorySystem::serve_one(std::uint32_t number, Time now) {
  L2Bank& bank = state_.banks[number];
  if (bank.serving || bank.waiting.empty() || held_up(bank.waiting.front(), now)) return false;
  bank.serving = true;
  const L2Access access = bank.waiting.pop();
  answer(access, carry_out(access, now), now);
  bank.serving = false;
  return true;
}

/// Hits never wait for the DRAM. Which stores push a dirty block out is not
/// known before: all that are no hits wait.
bool MemorySystem::held_up(const L2Access& access, Time now) {
  L2Bank& bank = state_.banks[bank_of(access.place)];
  const bool full =
      channels_[access.place.index].channel.waiting_bursts(MemoryStream::compute) >= spec_.limits.waiting_bursts;
  if (access.kind == L2Access::Kind::uncached) return full;
  bool no_register = false;
  if (access.kind == L2Access::Kind::load && bank.fetches >= spec_.limits.fetches) {
    while (!bank.freed.empty() && bank.freed.front() <= now) {
      bank.freed.pop();
      --bank.fetches;
    }
    no_register = bank.fetches >= spec_.limits.fetches;
  }
  if ((!full && !no_register) || state_.cache.holds(access.request.block)) return false;
  if (!full && !bank.freed.empty() && bank.woken_at != bank.freed.front()) {
    bank.woken_at = bank.freed.front();
    client_->wake_channel(access.place.index, bank.woken_at);
  }
  return true;
}

MemorySystem::Stored MemorySystem::carry_out(const L2Access& access, Time now) {
  switch (access.kind) {
    case L2Access::Kind::load:
      return {load(access, now), false};
    case L2Access::Kind::store:
      return store(access, now);
    case L2Access::Kind::uncached:
      break;
  }
  push_all(access.blocks, now, access.request);
  return {never, false};
}

/// Of an access that had to wait for its turn.
void MemorySystem::answer(const L2Access& access, const Stored& result, Time now) {
  if (result.served == never || result.waits || access.request.owner == nobody) return;
  const std::uint32_t owner = access.request.owner;
  access.kind == L2Access::Kind::load ? client_->arrived(owner, result.served) : client_->room_made(owner, now);
}

Time MemorySystem::read(Time now, BlockId block, std::uint32_t bytes, TrafficClass traffic, std::uint32_t owner) {
  const MemoryRequest wanted{block, bytes, MemoryOp::read, MemoryStream::compute, traffic, owner, 0};
  return come(access(L2Access::Kind::load, wanted), now).value_or(Stored{never, false}).served;
}

Time MemorySystem::load(const L2Access& access, Time now) {
  const MemoryRequest& wanted = access.request;
  const std::uint32_t bank = bank_of(access.place);
  const Time served = time_after(state_.cache.bank_time(bank, wanted.bytes, now), spec_.cache.hit_latency);
  const CacheResult result = state_.cache.read(wanted.block, wanted.bytes);
  MemoryRequest fetched = wanted;
  switch (result.outcome) {
    case CacheOutcome::hit:
      // A block counts as held from the moment when its fetch is certain; its
      // data may be on their way.
      return std::max(served, state_.fetches[result.entry].data_at);
    case CacheOutcome::pending:
      wait(result.entry, wanted.owner);
      return never;
    case CacheOutcome::miss:
      wait(result.entry, wanted.owner);
      write_victim_back(now, result, wanted.traffic);
      ++state_.banks[bank].fetches;
      fetched.owner = result.entry;
      fetched.detail = fetch + bank;
      state_.fetches[result.entry].missing = accesses(access.blocks, wanted.bytes);
      push_all(access.blocks, now, fetched);
      return never;
    case CacheOutcome::no_room:
      break;
  }
  fetched.detail = direct_read;
  push_all(access.blocks, now, fetched);
  return never;
}

void MemorySystem::read_uncached(Time now, BlockId block, std::uint32_t bytes, MemoryStream stream,
                                 TrafficClass traffic, std::uint32_t owner) {
  push_uncached(now, {block, bytes, MemoryOp::read, stream, traffic, owner, direct_read});
}

MemorySystem::Stored MemorySystem::write(Time now, BlockId block, std::uint32_t bytes, TrafficClass traffic,
                                         std::uint32_t owner) {
  const MemoryRequest wanted{block, bytes, MemoryOp::write, MemoryStream::compute, traffic, owner, room};
  return come(access(L2Access::Kind::store, wanted), now).value_or(Stored{now, true});
}

MemorySystem::Stored MemorySystem::store(const L2Access& access, Time now) {
  const MemoryRequest& wanted = access.request;
  Stored stored{state_.cache.bank_time(bank_of(access.place), wanted.bytes, now), false};
  const CacheResult result = state_.cache.write(wanted.block, wanted.bytes);
  MemoryRequest leaving = wanted;
  if (result.outcome != CacheOutcome::no_room) {
    state_.fetches[result.entry].data_at = stored.served;
    leaving.block = result.victim;
    leaving.bytes = result.victim_bytes;
  }
  stored.waits = leaving.bytes > 0;
  if (stored.waits) push(now, leaving);
  return stored;
}

void MemorySystem::push_uncached(Time now, const MemoryRequest& request) {
  if (request.stream == MemoryStream::communication) return push(now, request);
  static_cast<void>(come(access(L2Access::Kind::uncached, request), now));
}

// What still waits for its turn is carried out first: the next kernel has
// blocks of its own.
void MemorySystem::flush(Time now, TrafficClass traffic) {
  for (L2Bank& bank : state_.banks) {
    bank.serving = true;
    while (!bank.waiting.empty()) {
      const L2Access access = bank.waiting.pop();
      answer(access, carry_out(access, now), now);
    }
    bank.serving = false;
  }
  state_.cache.flush([&](BlockId block, std::uint32_t bytes) {
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
  std::uint32_t index = state_.free_waiter;
  if (index == none) {
    index = static_cast<std::uint32_t>(state_.waiters.size());
    state_.waiters.emplace_back();
  } else {
    state_.free_waiter = state_.waiters[index].next;
  }
  state_.waiters[index] = {owner, state_.fetches[entry].first_waiter};
  state_.fetches[entry].first_waiter = index;
}

void MemorySystem::enqueued(const MemoryRequest& request, Time now) {
  if (request.op == MemoryOp::read || request.detail == write_back || request.detail == silent) return;
  if (request.detail == room && request.owner == nobody) return;
  request.detail == room ? client_->room_made(request.owner, now) : client_->stored(request, now);
}

void MemorySystem::done(const MemoryRequest& request, Time at) {
  client_->served(request, at);
  if (request.op != MemoryOp::read || request.detail == silent) return;
  if (request.detail == direct_read) return client_->arrived(request.owner, at);
  const std::uint32_t entry = request.owner;
  MemoryState::Fetch& fetched = state_.fetches[entry];
  fetched.data_at = std::max(fetched.data_at, time_after(at, spec_.cache.hit_latency));
  if (--fetched.missing > 0) return;
  state_.cache.fill(entry);
  free_register(request.detail - fetch, at);
  tell_waiters(entry, fetched.data_at);
}

/// Some pieces of a block are in other channels than the one that its bank is
/// in front of: the bank has to be told.
void MemorySystem::free_register(std::uint32_t number, Time at) {
  L2Bank& bank = state_.banks[number];
  bank.freed.push(at);
  if (bank.waiting.empty() || bank.woken_at == at) return;
  bank.woken_at = at;
  client_->wake_channel(number / banks_of_channel_, at);
}

void MemorySystem::tell_waiters(std::uint32_t entry, Time there) {
  std::uint32_t index = std::exchange(state_.fetches[entry].first_waiter, none);
  while (index != none) {
    const MemoryState::Waiter waiter = state_.waiters[index];
    state_.waiters[index].next = state_.free_waiter;
    state_.free_waiter = index;
    index = waiter.next;
    client_->arrived(waiter.owner, there);
  }
}

}  // namespace tessera::sim
