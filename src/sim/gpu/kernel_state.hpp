// All that changes in a kernel while it runs.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <variant>
#include <vector>

#include "sim/memory/dma_table.hpp"
#include "sim/memory/tracker.hpp"
#include "tessera/base/time.hpp"

namespace tessera::sim {

/// The work-groups of a GEMM.
struct WorkGroupsState {
  /// A chunk of k in one of a slot's buffers.
  struct Buffer {
    std::uint32_t missing = 0;  ///< blocks whose time is not known
    Time ready = 0;
  };
  struct Slot {
    std::uint32_t work_group = 0;  ///< index in the order of dispatch
    std::int64_t tile = 0;
    std::int64_t first = 0;      ///< chunk of k
    std::int64_t last = 0;       ///< exclusive
    std::int64_t loading = 0;    ///< the next chunk to load
    std::int64_t computing = 0;  ///< the chunk that is computed, or waited for
    std::uint32_t stores = 0;    ///< that have to wait
    Time free_at = 0;            ///< when the L2 has taken the others
    bool busy = false;           ///< computes
    bool storing = false;
  };

  std::vector<Slot> slots;
  std::vector<Buffer> buffers;
  std::vector<Time> cu_free;
  std::vector<std::uint32_t> eligible;  ///< heap, the earliest of the order first
  std::vector<std::uint32_t> idle;      ///< slots that found none; heap, the lowest first
  bool begun = false;
  std::size_t stored = 0;  ///< work-groups that have ended
};

/// The tiles of a GEMM that devices share.
struct TilesState {
  /// A WF tile on its way out.
  struct Outgoing {
    std::uint32_t command = 0;
    std::uint32_t reading = 0;  ///< blocks
    Time there = 0;             ///< when the last one that came so far is
  };

  Tracker tracker;
  DmaTable commands;
  std::vector<Outgoing> outgoing = {};      ///< by number
  std::vector<std::uint32_t> missing = {};  ///< by row of A: parts
  std::unordered_map<std::uint32_t, std::uint32_t> beside =
      {};                       ///< B of WF tiles whose Tracker set was full, by number
  std::int64_t incomplete = 0;  ///< WF tiles that updates are awaited for
  std::int64_t reading = 0;     ///< WF tiles that DMAs read
  std::int64_t awaited = 0;     ///< B for other buffers
  std::int64_t bytes_received = 0;
  std::int64_t held_back = 0;
};

struct GemmState {
  WorkGroupsState work_groups;
  TilesState tiles;
  bool ended = false;
  Time computed = 0;
};

/// Of a kernel that copies.
struct CopyState {
  /// A unit between its first load and its departure.
  struct Work {
    std::uint32_t missing = 0;  ///< blocks that are read
    Time there = 0;             ///< when the last of those that were read is
    bool ready = false;
  };
  /// A unit of a step. Units are gone through in the order in which they leave.
  struct Cursor {
    std::uint32_t step = 0;
    std::uint32_t unit = 0;
  };

  std::int64_t under_way = 0;          ///< B
  Cursor loading;                      ///< to be loaded next
  Cursor sending;                      ///< to be sent next
  std::vector<std::int64_t> received;  ///< B, by slot
  std::int64_t missing = 0;            ///< B of all slots
  std::vector<Work> work;              ///< ring buffer by serial number
  std::uint32_t first_work = 0;
  std::uint32_t next_work = 0;
  std::uint32_t departing = 0;
  Time began = 0;
  std::int64_t bytes_received = 0;
  bool ended = false;
  bool going_on = false;
  bool again = false;
};

/// Of whichever kernel runs.
using KernelState = std::variant<GemmState, CopyState>;

}  // namespace tessera::sim
