// Transactions of a GPU's memory system.
#pragma once

#include <cstdint>

#include "tessera/base/time.hpp"

namespace tessera::sim {

/// A block is one granule of memory: `granularity` bytes of one matrix, whole
/// but at the matrix's edges. Numbers are the GPU's own; those of one matrix
/// are consecutive.
using BlockId = std::uint64_t;

/// What a column command of HBM2 moves: 128 bits at both edges of a clock.
/// Queues and thresholds count such bursts.
inline constexpr std::int64_t burst_bytes = 32;
[[nodiscard]] constexpr std::uint32_t bursts_of(std::uint32_t bytes) {
  return static_cast<std::uint32_t>((bytes + burst_bytes - 1) / burst_bytes);
}

/// What queues apart at the memory controller (T3, section 4.5).
enum class MemoryStream : std::uint8_t { compute, communication };
inline constexpr int memory_stream_count = 2;

enum class MemoryOp : std::uint8_t {
  read,
  write,
  update,  ///< near-memory op-and-store (T3, section 4.3): adds to what is
           ///< there, counts as one write
  atomic,  ///< the write of an atomic update (section 7.4), whose read has gone
           ///< before; to the DRAM a write like others
};

/// What a transaction is counted as (T3, figure 18).
enum class TrafficClass : std::uint8_t {
  gemm_read,
  gemm_write,
  reduce_scatter_read,
  reduce_scatter_write,
  all_gather_read,
  all_gather_write,
  other
};
inline constexpr int traffic_class_count = 7;
/// What a kernel writes, by what it reads or writes.
[[nodiscard]] constexpr TrafficClass written_class(TrafficClass traffic) {
  return traffic == TrafficClass::other ? traffic : static_cast<TrafficClass>(static_cast<int>(traffic) | 1);
}
/// What an atomic reads, by what it writes.
[[nodiscard]] constexpr TrafficClass read_class(TrafficClass traffic) {
  return traffic == TrafficClass::other ? traffic : static_cast<TrafficClass>(static_cast<int>(traffic) & ~1);
}
[[nodiscard]] constexpr const char* name_of(TrafficClass traffic) {
  constexpr const char* names[traffic_class_count] = {
      "gemm_read",        "gemm_write", "reduce_scatter_read", "reduce_scatter_write", "all_gather_read",
      "all_gather_write", "other"};
  return names[static_cast<int>(traffic)];
}

struct MemoryRequest {
  BlockId block = 0;
  std::uint32_t bytes = 0;
  MemoryOp op = MemoryOp::read;
  MemoryStream stream = MemoryStream::compute;
  TrafficClass traffic = TrafficClass::other;
  /// Whose it is, for the owner of the channel alone.
  std::uint32_t owner = 0;
  std::uint32_t detail = 0;
  /// Among the blocks of its channel, in order of addresses; the memory system
  /// fills it in.
  std::uint32_t place = 0;
};
static_assert(sizeof(MemoryRequest) == 32);

}  // namespace tessera::sim
