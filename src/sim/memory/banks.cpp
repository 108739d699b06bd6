#include "tessera/sim/memory/banks.hpp"

#include <algorithm>

namespace tessera::sim {

Banks::Banks(const ChannelSpec& spec)
    : spec_(spec),
      period_(spec.clock_period),
      write_to_read_(clocks(spec.cwl + spec.ccds + spec.wtr)),
      banks_(spec.banks),
      group_free_(spec.bank_groups, 0) {}

void Banks::open(DramPlace place, Time now) {
  Bank& bank = banks_[place.bank];
  Time earliest = now;
  if (bank.used) {
    const Time precharge = std::max(now, bank.closeable);
    earliest = std::max(precharge + clocks(spec_.rp), bank.activated + clocks(spec_.rc));
  }
  bank.activated = activation(bank, earliest);
  bank.used = true;
  bank.row = place.row;
  bank.ready = bank.activated + clocks(spec_.rcd);
  bank.closeable = bank.activated + clocks(spec_.ras);
  ++activations_;
}

/// The earliest time that is tRRD away from the activations of all other banks,
/// also of those that are due later.
Time Banks::activation(const Bank& bank, Time earliest) const {
  const Time apart = clocks(spec_.rrd);
  Time at = earliest;
  for (bool moved = true; moved;) {
    moved = false;
    for (const Bank& other : banks_) {
      if (&other == &bank || !other.used || other.activated - apart >= at || other.activated + apart <= at) continue;
      at = other.activated + apart;
      moved = true;
    }
  }
  return at;
}

Time Banks::earliest(std::uint32_t bank, bool reads) const {
  const Time row = std::max(banks_[bank].ready, group_free_[bank % group_free_.size()]);
  return std::max({row, bus_free_, may_start_[reads ? 0 : 1]});
}

Banks::Served Banks::serve(std::uint32_t number, MemoryOp op, std::uint32_t bursts, Time start) {
  Bank& bank = banks_[number];
  const bool reads = op == MemoryOp::read;
  const Time apart = clocks(op == MemoryOp::update ? spec_.ccdwl : spec_.ccdl);
  const Time last = start + (bursts - 1) * apart;
  group_free_[number % group_free_.size()] = last + apart;
  bus_free_ = start + bursts * clocks(spec_.ccds);
  Time& other = may_start_[reads ? 1 : 0];
  other = std::max(other, last + (reads ? clocks(spec_.rtw) : write_to_read_));
  const Time closeable = last + clocks(reads ? spec_.rtp : spec_.cwl + spec_.ccds + spec_.wr);
  bank.closeable = std::max(bank.closeable, closeable);
  const bool turned = directed_ && reading_ != reads;
  directed_ = true;
  reading_ = reads;
  return {bus_free_, last + clocks((reads ? spec_.cl : spec_.cwl) + spec_.ccds), turned};
}

}  // namespace tessera::sim
