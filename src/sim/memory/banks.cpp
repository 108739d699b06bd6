#include "sim/memory/banks.hpp"

#include <algorithm>

namespace tessera::sim {

Banks::Banks(const ChannelSpec& spec)
    : spec_(spec),
      period_(spec.clock_period),
      write_to_read_(clocks(spec.cwl + spec.ccds + spec.wtr)),
      banks_(spec.banks),
      group_free_(spec.bank_groups, 0) {
  for (std::uint32_t number = 0; number < spec.banks; ++number) banks_[number].group = number % spec.bank_groups;
}

void Banks::open(DramPlace place, Time now) {
  Bank& bank = banks_[place.bank];
  Time earliest = now;
  if (bank.used) {
    const Time precharge = std::max(now, bank.closeable);
    earliest = std::max(precharge + clocks(spec_.rp), bank.activated + clocks(spec_.rc));
  }
  const Time activated = activation(bank, earliest);
  bank.activated_before = bank.used ? bank.activated : activated;
  bank.activated = activated;
  latest_activation_ = std::max(latest_activation_, activated);
  bank.used = true;
  bank.row = place.row;
  bank.ready = {bank.activated + clocks(spec_.rcd), bank.activated + clocks(spec_.rcdwr)};
  bank.closeable = bank.activated + clocks(spec_.ras);
  ++activations_;
}

/// The earliest time that is tRRD away from the activations of all other banks,
/// also of those that are due later. Of a bank the last two are enough: what it
/// opened before them was read, and is tRCD ago.
Time Banks::activation(const Bank& bank, Time earliest) const {
  const Time apart = clocks(spec_.rrd);
  if (earliest >= latest_activation_ + apart) return earliest;
  Time at = earliest;
  for (bool moved = true; moved;) {
    moved = false;
    for (const Bank& other : banks_) {
      if (&other == &bank || !other.used) continue;
      for (const Time one : {other.activated, other.activated_before}) {
        if (one - apart >= at || one + apart <= at) continue;
        at = one + apart;
        moved = true;
      }
    }
  }
  return at;
}

Banks::Served Banks::serve(std::uint32_t number, MemoryOp op, std::uint32_t bursts, Time start) {
  Bank& bank = banks_[number];
  const bool reads = op == MemoryOp::read;
  const Time apart = clocks(op == MemoryOp::update ? spec_.ccdwl : spec_.ccdl);
  const Time last = start + (bursts - 1) * apart;
  group_free_[bank.group] = last + apart;
  bus_free_ = start + bursts * clocks(spec_.ccds);
  Time& other = may_start_[1 - direction(op)];
  other = std::max(other, last + (reads ? clocks(spec_.rtw) : write_to_read_));
  const Time closeable = last + clocks(reads ? spec_.rtp : spec_.cwl + spec_.ccds + spec_.wr);
  bank.closeable = std::max(bank.closeable, closeable);
  const bool turned = directed_ && reading_ != reads;
  directed_ = true;
  reading_ = reads;
  return {bus_free_, last + clocks((reads ? spec_.cl : spec_.cwl) + spec_.ccds), turned};
}

}  // namespace tessera::sim
