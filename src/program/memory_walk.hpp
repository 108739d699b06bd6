// What a stretch of code does to a device's memory, without time.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "tessera/program/program.hpp"

namespace tessera::program {

/// Changes of memory by category, in bytes relative to the beginning of the stretch. Exact up to 2^80 B either way,
/// where they stay: so much is refused.
struct MemoryWalk {
  using Levels = std::vector<Int128>;
  explicit MemoryWalk(std::size_t categories) : net(categories, 0), low(net), high(net), at_peak(net) {}

  Levels net;       ///< at the end
  Levels low;       ///< least level of each category
  Levels high;      ///< greatest level of each category
  Levels at_peak;   ///< when the total is highest, for the first time
  Int128 peak = 0;  ///< the highest total

  /// This stretch, then `next` `times` times, exactly: if one pass adds memory the last pass is the highest, otherwise
  /// the first.
  void append(const MemoryWalk& next, std::uint32_t times);
};

/// What another stream releases, by the event at which the walk counts it.
using ReleasedAt = std::map<std::uint32_t, MemoryWalk>;

/// The walk of every block that `entry` reaches, by block id (others are empty). Each signal of an event of `at_signal`
/// counts as what that event releases, and so does each wait for one of `at_wait`.
[[nodiscard]] std::vector<MemoryWalk> memory_walks(const Program& program, BlockId entry,
                                                   const ReleasedAt& at_signal = {}, const ReleasedAt& at_wait = {});

/// A stream that releases the same again and again, each time after it has been told to by an event: what it releases
/// is released between that and the event by which it says so.
struct Follower {
  std::uint32_t told_by = 0;
  std::optional<std::uint32_t> says;
  MemoryWalk released;
};
[[nodiscard]] std::optional<Follower> follower_of(const Program& program, BlockId entry);

/// Whether a stream that begins there allocates or releases anything.
[[nodiscard]] bool changes_memory(const Program& program, BlockId entry);
/// The walks of those streams of a device that change memory.
[[nodiscard]] std::vector<MemoryWalk> stream_walks(const Program& program, const DeviceProgram& device);

}  // namespace tessera::program
