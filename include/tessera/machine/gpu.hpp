// A device as its memory transactions meet it: what T3's Table 1 gives, and what it leaves open (docs/t3.md has the
// sources). An experiment's [machine.device.transaction].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/base/time.hpp"

namespace tessera::machine {

struct GpuSpec {
  std::int64_t granularity = 256;  ///< B of a memory transaction
  // Compute units; their number and clock are those of the device
  std::int64_t cus = 80;
  std::int64_t clock = 1'400'000'000;  ///< Hz, of CUs and L2
  double speed = 1.0;                  ///< of CUs and memory: [[machine.fault]] of one device
  std::int64_t work_groups_per_cu = 1;
  std::int64_t prefetch = 1;        ///< chunks of k that a work-group loads ahead of the one it computes
  Time work_group_time = 0;         ///< ps, fixed for each work-group (fitted)
  std::int64_t outstanding = 4096;  ///< B that a CU of a copying kernel may have under way
  std::int64_t copy_block = 2048;   ///< B that a copying kernel loads, adds and sends at a time
  // L2; its size is that of the device's cache
  std::int64_t l2_capacity = 16 << 20;  ///< B
  std::int64_t l2_ways = 16;
  std::int64_t l2_banks = 64;
  Time l2_latency = 150 * nanosecond;
  std::int64_t l2_queue = 128;   ///< bursts that a channel's banks of the L2 may have waiting for its DRAM queue
  std::int64_t l2_line = 128;    ///< B of consecutive addresses that a fetch takes at least
  std::int64_t l2_misses = 192;  ///< bursts that a bank of the L2 may be fetching
  // HBM
  std::int64_t channels = 32;
  std::int64_t memory_clock = 1'000'000'000;  ///< Hz
  std::int64_t banks = 16;                    ///< of a channel
  std::int64_t bank_groups = 4;
  std::int64_t dram_row = 2048;  ///< B
  // Clocks between commands (JEDEC's names, without their t)
  std::int64_t ccds = 1;
  std::int64_t ccdl = 2;
  std::int64_t ccdwl = 4;  ///< behind an op-and-store (T3)
  std::int64_t rcd = 14;
  std::int64_t rcdwr = 11;
  std::int64_t rp = 14;
  std::int64_t ras = 33;
  std::int64_t rc = 47;
  std::int64_t rrd = 4;
  std::int64_t rtp = 4;
  std::int64_t wr = 12;
  std::int64_t wtr = 3;
  std::int64_t rtw = 15;
  std::int64_t cl = 14;
  std::int64_t cwl = 2;
  Time dram_latency = 100 * nanosecond;
  std::int64_t dram_queue = 64;  ///< bursts of a channel
  std::int64_t max_bypass = 32;  ///< bursts of younger requests that may overtake one
  // Arbitration
  std::string arbitration = "round-robin";
  Time starvation_limit = 6'750;  ///< for each burst
  /// Bursts of mean occupancy from which on a kernel is of mca's first, second and third level; descending.
  std::vector<std::int64_t> intensity_levels = {32, 16, 8};
  // Tracker
  std::int64_t tracker_sets = 256;
  std::int64_t tracker_size = 19 << 10;  ///< B
};

/// [machine.device.transaction]; without what the device's own keys say.
[[nodiscard]] const config::Schema<GpuSpec>& gpu_spec_schema();

}  // namespace tessera::machine
