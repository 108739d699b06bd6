#include "sim/memory/dram_timing.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"

namespace tessera::sim {

double longest_service(const ChannelSpec& spec) {
  const double bursts = static_cast<double>(std::max({spec.ccds, spec.ccdl, spec.ccdwl})) * spec.block_bursts;
  // A burst may wait for its group, the bus to turn, and a row to be closed and
  // opened behind those of all other banks.
  const double row = static_cast<double>(spec.ras) + spec.rc + spec.rp + std::max(spec.rcd, spec.rcdwr) + spec.wr +
                     spec.rtp + static_cast<double>(spec.rrd) * spec.banks;
  const double bus = static_cast<double>(spec.wtr) + spec.rtw + spec.cl + spec.cwl;
  return (2 * bursts + row + 2 * bus) * static_cast<double>(spec.clock_period) + static_cast<double>(spec.latency);
}

void refuse(const ChannelSpec& spec) {
  if (spec.clock_period <= 0) throw InputError("a memory channel needs a clock period of at least 1 ps");
  if (spec.ccds == 0) throw InputError("a burst of a memory channel takes at least 1 clock (ccds)");
  if (spec.bank_groups == 0) throw InputError("a memory channel needs at least 1 bank group");
  if (spec.banks == 0 || spec.banks > 64) throw InputError("a memory channel has 1 to 64 banks");
  if (spec.row_blocks == 0) throw InputError("a row of a memory bank holds at least 1 block");
  if (spec.block_bursts == 0) throw InputError("a block of memory holds at least 1 burst");
  if (spec.queue == 0) throw InputError("the DRAM queue of a memory channel holds at least 1 burst");
  if (spec.latency < 0) throw InputError("the latency of a memory channel is negative");
  if (longest_service(spec) > static_cast<double>(longest_transaction))
    throw InputError("a transaction of a memory channel takes longer than an hour");
}

DramPlace dram_place(const ChannelSpec& spec, std::uint32_t block_of_channel) {
  const std::uint32_t together = spec.banks % 2 == 0 ? 2 : 1;
  const std::uint32_t pair = block_of_channel / (together * spec.row_blocks);
  const std::uint32_t pairs = spec.banks / together;
  return {pair % pairs * together + block_of_channel % together, pair / pairs};
}

}  // namespace tessera::sim
