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
    low[i] = std::min(low[i], limited(net[i] + lowest_pass * next.net[i] + next.low[i]));
    net[i] = limited(net[i] + times * next.net[i]);
  }
}

std::vector<MemoryWalk> memory_walks(const Program& program, BlockId entry) {
  const std::size_t categories = categories_of(program);
  std::vector<MemoryWalk> walks(program.blocks.size(), MemoryWalk(categories));
  std::vector<BlockId> order = callers_first(program, entry);
  std::reverse(order.begin(), order.end());
  for (const BlockId block : order) {
    for (const Instruction& instruction : program.blocks[block].code) {
      if (instruction.op == Op::call) walks[block].append(walks[instruction.a], instruction.count);
      if (instruction.op != Op::allocate && instruction.op != Op::release) continue;
      if (instruction.b >= categories) throw InternalError("a memory category that does not exist");
      walks[block].append(walk_of(instruction, categories), 1);
    }
  }
  return walks;
}

MemoryPeak memory_peak(const Program& program, DeviceId device) {
  MemoryPeak peak{0, std::vector<std::int64_t>(categories_of(program), 0)};
  const std::vector<BlockId>& streams = program.devices.at(device).streams;
  if (streams.empty()) return peak;
  const MemoryWalk walk = memory_walks(program, streams[0])[streams[0]];
  peak.total = to_bytes(walk.peak);
  std::transform(walk.at_peak.begin(), walk.at_peak.end(), peak.by_category.begin(), to_bytes);
  return peak;
}

}  // namespace tessera::program
