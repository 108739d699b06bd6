// What a bank of the L2 holds up when the DRAM behind it does not keep up.
#pragma once

#include <cstdint>

#include "sim/memory/cache.hpp"
#include "sim/memory/memory_layout.hpp"
#include "sim/ring_buffer.hpp"
#include "tessera/sim/memory/request.hpp"

namespace tessera::sim {

struct L2Limits {
  /// Bursts of the compute stream that may wait for a channel's DRAM queue; the
  /// banks of the L2 in front of it hold back what would come on top.
  std::int64_t waiting_bursts = 128;
  std::int64_t fetches = 96;  ///< miss registers of a bank, in blocks
};

/// What comes to a bank.
struct L2Access {
  enum class Kind : std::uint8_t {
    load,
    store,
    uncached,  ///< in turn all the same
  };
  Kind kind = Kind::load;
  MemoryRequest request;
  MemoryBlocks blocks;       // where its block is
  BlockSpread::Place place;  // of the first of them
};

/// What comes is served in order. Its head may have to wait: for room in the
/// channel's queue, or for a miss register; then all behind it wait, hits too.
struct L2Bank {
  RingBuffer<L2Access> waiting;
  bool serving = false;      // what comes from within takes its turn
  std::int64_t fetches = 0;  // miss registers in use
  RingBuffer<Time> freed;    // when some of them will be free again
  Time woken_at = 0;         // the latest time for which it asked because of that
};

}  // namespace tessera::sim
