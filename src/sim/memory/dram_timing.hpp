// What a channel of HBM2 is built of, and its timings (docs/t3.md has the sources).
#pragma once

#include <cstdint>

#include "tessera/base/time.hpp"
#include "tessera/sim/memory/request.hpp"

namespace tessera::sim {

/// Timings are in clocks, between commands where nothing else is said. A burst
/// is one column command.
struct ChannelSpec {
  Time clock_period = 1 * nanosecond;
  std::uint32_t banks = 16;
  std::uint32_t bank_groups = 4;  ///< bank b is in group b modulo their number
  std::uint32_t row_blocks = 8;   ///< blocks that a row holds
  std::uint32_t block_bursts = 8;
  std::uint32_t ccds = 1;           ///< bursts of different bank groups: what a burst has of the bus
  std::uint32_t ccdl = 2;           ///< bursts of one bank group
  std::uint32_t ccdwl = 4;          ///< an op-and-store to the next burst of its bank group
  std::uint32_t rcd = 14;           ///< activation to burst
  std::uint32_t rcdwr = 11;         ///< activation to a burst that only writes
  std::uint32_t rp = 14;            ///< precharge to activation
  std::uint32_t ras = 33;           ///< activation to precharge
  std::uint32_t rc = 47;            ///< activation to activation, of one bank
  std::uint32_t rrd = 4;            ///< the same of two banks
  std::uint32_t rtp = 4;            ///< read to precharge
  std::uint32_t wr = 12;            ///< end of written data to precharge
  std::uint32_t wtr = 3;            ///< end of written data to read
  std::uint32_t rtw = 15;           ///< read to write
  std::uint32_t cl = 14;            ///< read to its data
  std::uint32_t cwl = 2;            ///< write to its data
  Time latency = 100 * nanosecond;  ///< ps, from a read's data to who asked
  std::uint32_t queue = 64;         ///< bursts in the DRAM queue
  std::uint32_t max_bypass = 32;    ///< a request that so many bursts of younger ones have overtaken goes first
};

/// No transaction may take longer: an hour.
inline constexpr Time longest_transaction = 3600 * second;

/// Throws InputError where a value makes no sense.
void refuse(const ChannelSpec& spec);
/// ps that serving one block can take, at most, from its turn to its data.
[[nodiscard]] double longest_service(const ChannelSpec& spec);

/// A channel's blocks go round two banks of different groups, until both rows
/// are full; then round the next two. So GPGPU-Sim maps V100 addresses.
struct DramPlace {
  std::uint32_t bank = 0;
  std::uint32_t row = 0;
};
[[nodiscard]] DramPlace dram_place(const ChannelSpec& spec, std::uint32_t block_of_channel);

}  // namespace tessera::sim
