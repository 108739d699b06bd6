#include "memory_walk.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "block_order.hpp"
#include "tessera/base/error.hpp"

namespace tessera::program {
namespace {

Int128 sum(const MemoryWalk::Levels& levels) { return std::accumulate(levels.begin(), levels.end(), Int128{0}); }

/// Nested repeats of 2^32 each never leave 128 bits then.
Int128 limited(Int128 bytes) {
  constexpr Int128 most = Int128{1} << 80U;
  return std::clamp<Int128>(bytes, -most, most);
}

std::int64_t to_bytes(Int128 bytes) {
  return static_cast<std::int64_t>(std::min<Int128>(bytes, std::numeric_limits<std::int64_t>::max()));
}

MemoryWalk walk_of(const Instruction& instruction, std::size_t categories) {
  MemoryWalk walk(categories);
  const std::int64_t bytes = instruction.op == Op::allocate ? instruction.bytes : -instruction.bytes;
  walk.net[instruction.b] = bytes;
  walk.low[instruction.b] = std::min<Int128>(bytes, 0);
  walk.high[instruction.b] = std::max<Int128>(bytes, 0);
  walk.peak = std::max<Int128>(bytes, 0);
  if (walk.peak > 0) walk.at_peak = walk.net;
  return walk;
}

}  // namespace

void MemoryWalk::append(const MemoryWalk& next, std::uint32_t times) {
  if (times == 0) return;
  const Int128 last_pass = times - 1;
  const Int128 highest_pass = sum(next.net) > 0 ? last_pass : 0;
  const Int128 candidate = limited(sum(net) + highest_pass * sum(next.net) + next.peak);
  if (candidate > peak) {
    peak = candidate;
    for (std::size_t i = 0; i < net.size(); ++i)
      at_peak[i] = limited(net[i] + highest_pass * next.net[i] + next.at_peak[i]);
  }
  for (std::size_t i = 0; i < net.size(); ++i) {
    const Int128 lowest_pass = next.net[i] < 0 ? last_pass : 0;
    const Int128 greatest_pass = last_pass - lowest_pass;
    low[i] = std::min(low[i], limited(net[i] + lowest_pass * next.net[i] + next.low[i]));
    high[i] = std::max(high[i], limited(net[i] + greatest_pass * next.net[i] + next.high[i]));
    net[i] = limited(net[i] + times * next.net[i]);
  }
}

std::vector<MemoryWalk> memory_walks(const Program& program, BlockId entry, const ReleasedAt& at_signal,
                                     const ReleasedAt& at_wait) {
  const std::size_t categories = categories_of(program);
  std::vector<MemoryWalk> walks(program.blocks.size(), MemoryWalk(categories));
  std::vector<BlockId> order = callers_first(program, entry);
  std::reverse(order.begin(), order.end());
  const auto count = [](MemoryWalk& walk, const ReleasedAt& released, const Instruction& instruction) {
    const auto found = released.find(instruction.a);
    if (found != released.end()) walk.append(found->second, instruction.count);
  };
  for (const BlockId block : order) {
    for (const Instruction& instruction : program.blocks[block].code) {
      if (instruction.op == Op::call) walks[block].append(walks[instruction.a], instruction.count);
      if (instruction.op == Op::signal) count(walks[block], at_signal, instruction);
      if (instruction.op == Op::wait) count(walks[block], at_wait, instruction);
      if (instruction.op != Op::allocate && instruction.op != Op::release) continue;
      if (instruction.b >= categories) throw InternalError("a memory category that does not exist");
      walks[block].append(walk_of(instruction, categories), 1);
    }
  }
  return walks;
}

bool changes_memory(const Program& program, BlockId entry) {
  for (const BlockId block : callers_first(program, entry)) {
    for (const Instruction& instruction : program.blocks[block].code) {
      if (instruction.op == Op::allocate || instruction.op == Op::release) return true;
    }
  }
  return false;
}

std::vector<MemoryWalk> stream_walks(const Program& program, const DeviceProgram& device) {
  std::vector<MemoryWalk> walks;
  for (const BlockId entry : device.streams) {
    if (changes_memory(program, entry)) walks.push_back(memory_walks(program, entry)[entry]);
  }
  return walks;
}

namespace {

/// The walks of streams that change memory, those of followers counted where they are told, or where they say so.
struct StreamWalks {
  std::vector<MemoryWalk> early, late;
};

StreamWalks walks_with_followers(const Program& program, const DeviceProgram& device) {
  std::vector<BlockId> leading;
  ReleasedAt at_signal, at_wait;
  for (const BlockId entry : device.streams) {
    const std::optional<Follower> follower = follower_of(program, entry);
    if (!follower || at_signal.contains(follower->told_by)) {
      leading.push_back(entry);
      continue;
    }
    at_signal.emplace(follower->told_by, follower->released);
    if (follower->says) at_wait.emplace(*follower->says, follower->released);
  }
  StreamWalks walks;
  for (const BlockId entry : leading) {
    if (!changes_memory(program, entry)) continue;
    walks.early.push_back(memory_walks(program, entry, at_signal)[entry]);
    walks.late.push_back(at_signal.empty() ? walks.early.back() : memory_walks(program, entry, {}, at_wait)[entry]);
  }
  return walks;
}

}  // namespace

// Of several streams: when each is at its peak, or all have ended, with the others as low as they can be.
MemoryPeak memory_peak(const Program& program, DeviceId device) {
  const StreamWalks found = walks_with_followers(program, program.devices.at(device));
  const std::vector<MemoryWalk>& walks = found.early;
  MemoryWalk::Levels lows(categories_of(program), 0), nets = lows, certain = lows;
  Int128 most = 0;
  for (const MemoryWalk& walk : found.late) most += walk.peak;
  for (const MemoryWalk& walk : walks) {
    for (std::size_t i = 0; i < lows.size(); ++i) {
      lows[i] += walk.low[i];
      nets[i] += walk.net[i];
    }
  }
  const auto take = [&certain](const MemoryWalk::Levels& levels) {
    if (sum(levels) > sum(certain)) certain = levels;
  };
  for (const MemoryWalk& walk : walks) {
    MemoryWalk::Levels levels = walk.at_peak;
    for (std::size_t i = 0; i < levels.size() && walks.size() > 1; ++i)  // never below nothing: that is refused
      levels[i] = std::max<Int128>(levels[i] + lows[i] - walk.low[i], 0);
    take(levels);
  }
  take(nets);
  MemoryPeak peak{to_bytes(sum(certain)), {}, to_bytes(most)};
  for (const Int128 level : certain) peak.by_category.push_back(to_bytes(level));
  return peak;
}

}  // namespace tessera::program
